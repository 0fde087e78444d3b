// Labels by votes of neighbours, all at once and one after the other, against plain loops.
#include <kith/apps/classify.hpp>

#include "support/classify_oracle.hpp"
#include "support/engines.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace kith::apps {
namespace {

using test::available_engines;
using test::EngineOnDevice;
using Codes = std::vector<std::uint32_t>;

/// A classification with everything random.
struct VoteCase {
  PointSet points, queries;
  Codes codes;
  std::uint32_t classes = 1;
  ClassifyOptions options;
  std::string text;

  LabelView labels() const { return {codes, classes}; }
};

std::uint64_t among(std::mt19937_64& random, std::uint64_t least, std::uint64_t most) {
  return least + random() % (most - least + 1);
}

/// Small: some ten thousand pairs at most. Grids and few values give ties of distances, few classes ties of votes.
VoteCase vote_case(std::uint64_t seed, bool is_sequential) {
  std::mt19937_64 random(seed * 2 + (is_sequential ? 1 : 0));
  VoteCase c;
  const std::uint64_t most_rows = seed % 8 == 0 ? 250 : 60;
  const std::uint64_t points = among(random, 1, seed % 5 == 0 ? 4 : most_rows);
  const std::uint64_t queries = seed % 11 == 0 ? 0 : among(random, 1, most_rows);
  const auto dims = static_cast<std::uint32_t>(seed % 7 == 0 ? among(random, 1, 300) : among(random, 1, 6));
  const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
  const auto count_of_shapes = static_cast<std::uint64_t>(test::NastyShape::count_of_shapes);
  auto shape = static_cast<test::NastyShape>(random() % count_of_shapes);
  if (random() % 3 == 0) shape = test::NastyShape::grid;
  const Metric metrics[] = {Metric::l2(),     Metric::l2(),      Metric::l1(),    Metric::linf(),
                            Metric::cosine(), Metric::angular(), Metric::lp(3.0), Metric::inner_product()};
  c.options.metric = metrics[random() % std::size(metrics)];
  if (c.options.metric.is_of_directions()) shape = test::NastyShape::uniform;
  c.points = test::nasty_points(shape, dtype, points, dims, random);
  c.queries = test::nasty_points(shape, dtype, queries, dims, random);
  const std::uint64_t most_k = points + (is_sequential && queries > 0 ? queries - 1 : 0);
  c.options.k = static_cast<std::uint32_t>(among(random, 1, std::min<std::uint64_t>(50, most_k)));
  c.classes = static_cast<std::uint32_t>(random() % 3 == 0 ? among(random, 1, 1000) : among(random, 1, 4));
  for (std::uint64_t i = 0; i < points; ++i) c.codes.push_back(static_cast<std::uint32_t>(random() % c.classes));
  const bool has_distances = c.options.metric.kind() != Metric::Kind::inner_product;
  c.options.weights = has_distances && random() % 2 == 0 ? Weights::distance : Weights::uniform;
  c.options.want_shares = random() % 2 == 0;
  c.options.threads = static_cast<int>(among(random, 1, 3));
  c.text = "seed " + std::to_string(seed) + ": " + std::to_string(points) + " points, " + std::to_string(queries) +
           " queries, " + std::to_string(dims) + " dims, k " + std::to_string(c.options.k) + ", " +
           std::to_string(c.classes) + " classes, " + c.options.metric.name() + ", " +
           std::string(name_of(c.options.weights));
  return c;
}

/// All engines that know the metric and give the same bytes, and the choice of `automatic`.
std::vector<EngineOnDevice> engines_for(Metric metric) {
  static const std::vector<EngineOnDevice> all = available_engines();
  std::vector<EngineOnDevice> fit = {{Engine::automatic, Device::cpu()}};
  for (const EngineOnDevice& where : all) {
    const bool is_for_all = metric.kind() != Metric::Kind::inner_product || where.engine == Engine::brute_force;
    if (is_for_all && test::gives_same_bytes(where, metric)) fit.push_back(where);
  }
  return fit;
}

void expect_equal(const Classified& expected, const Classified& found) {
  EXPECT_EQ(expected.labels, found.labels);
  EXPECT_EQ(expected.shares, found.shares);
  EXPECT_EQ(expected.depth, found.depth);
}

TEST(Classify, AsThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 400; seed += test::kSeedStep) {
    VoteCase c = vote_case(seed, false);
    SCOPED_TRACE(c.text);
    const Classified expected = test::oracle_classify(c.points.view(), c.labels(), c.queries.view(), c.options);
    for (const EngineOnDevice& where : engines_for(c.options.metric)) {
      SCOPED_TRACE(testing::Message() << where);
      c.options.engine = where.engine;
      c.options.device = where.device;
      expect_equal(expected, classify(c.points.view(), c.labels(), c.queries.view(), c.options));
    }
    if (HasFailure()) return;
  }
}

TEST(ClassifySequential, AsThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 500; seed += test::kSeedStep) {
    VoteCase c = vote_case(seed, true);
    SCOPED_TRACE(c.text);
    const Classified expected = test::oracle_sequential(c.points.view(), c.labels(), c.queries.view(), c.options);
    for (const EngineOnDevice& where : engines_for(c.options.metric)) {
      SCOPED_TRACE(testing::Message() << where);
      c.options.engine = where.engine;
      c.options.device = where.device;
      const Classified found = classify_sequential(c.points.view(), c.labels(), c.queries.view(), c.options);
      expect_equal(expected, found);
      EXPECT_EQ(found.rounds, c.queries.rows() == 0 ? 0u : 1u);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kith::apps
