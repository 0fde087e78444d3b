// The inputs themselves: where these differ between machines, a seed does not replay what it did elsewhere.
#include "golden/digest.hpp"
#include "golden/golden_points.hpp"
#include "golden/golden_section.hpp"
#include "support/bit_oracle.hpp"
#include "support/random_case.hpp"
#include "support/sequence_oracle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace kith::test {
namespace {

TEST(GoldenInputs, Points) {
  GoldenSection golden("inputs");
  for (const GoldenShape shape : kGoldenShapes) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      golden.check(fmt::format("{}_300x5_{}", name_of(shape), kith::name_of(dtype)),
                   digest_of(golden_points(shape, dtype, 300, 5, 1)));
    }
  }
}

void add(Digest& digest, const SearchCase& c) {
  digest.add(c.points).add(c.queries).add(c.k).add(c.most).add(c.leaf_size).add(c.period).add(c.allowed);
  digest.add(c.index_below).add(c.metric.name()).add(c.is_self).add(static_cast<int>(c.split));
  digest.add(static_cast<int>(c.builder == Builder::lists))
      .add(c.options.threads)
      .add(c.options.exclude_self)
      .add(c.options.squared);
  digest.add(c.options.earlier_only);
  // A radius is often the distance of a pair, and `pow` is not rounded alike everywhere.
  if (c.metric.kind() != Metric::Kind::lp) digest.add(c.radius).add(c.max_distance);
}

template <typename Options>
void add_options(Digest& digest, const Options& options) {
  digest.add(options.exclude_self).add(options.earlier_only).add(options.max_distance).add(options.threads);
}

TEST(GoldenInputs, RandomCases) {
  GoldenSection golden("random_cases");
  constexpr std::uint64_t kTogether = 50;
  for (std::uint64_t first = 0; first < 500; first += kTogether) {
    Digest digest;
    for (std::uint64_t seed = first; seed < first + kTogether; ++seed) add(digest, random_case(seed));
    golden.check(fmt::format("points_{:03}_to_{:03}", first, first + kTogether - 1), digest.text());
  }
  for (std::uint64_t first = 0; first < 200; first += kTogether) {
    Digest products, bits, sequences;
    for (std::uint64_t seed = first; seed < first + kTogether; ++seed) {
      SearchCase c = inner_product_case(seed);
      products.add(c.points).add(c.queries).add(c.k).add(c.allowed).add(c.index_below);

      const BitCase b(seed, 100);
      bits.add(b.points.bytes).add(b.queries.bytes).add(b.k).add(b.radius).add(b.allowed_words);
      add_options(bits, b.options);

      const SequenceCase s(seed, 60);
      for (const SequenceSet* set : {&s.points, &s.queries}) {
        for (std::uint64_t i = 0; i < set->size(); ++i) sequences.add(set->sequence(i)).add(~0u);
      }
      sequences.add(s.k).add(s.radius).add(s.allowed_words);
      add_options(sequences, s.options);
    }
    const std::string seeds = fmt::format("{:03}_to_{:03}", first, first + kTogether - 1);
    golden.check("inner_products_" + seeds, products.text());
    golden.check("bits_" + seeds, bits.text());
    golden.check("sequences_" + seeds, sequences.text());
  }
}

TEST(GoldenInputs, EveryLineBelongsToATest) {
  for (const auto& [name, digest] : read_digests()) {
    const std::string section = name.substr(0, name.find('/'));
    EXPECT_TRUE(std::any_of(std::begin(kGoldenSections), std::end(kGoldenSections),
                            [&](const char* known) { return section == known; }))
        << "no test makes the line " << name << "  " << digest;
  }
}

}  // namespace
}  // namespace kith::test
