// Searches over any tree give what looking at every object gives.
#include "cpu/cover_tree/search.hpp"

#include "cpu/cover_tree/check_distances.hpp"
#include "cpu/cover_tree/vector_space.hpp"
#include "engine/cover_tree/one_leaf.hpp"
#include "engine/cover_tree/check_invariants.hpp"
#include "support/plain_space.hpp"
#include "support/random_case.hpp"
#include "support/random_cover_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint32_t kCaseDims = 4;

/// Points in some shapes; those after `objects` serve as queries. Values are squared, or whole (the sum of whole
/// differences), so that many are equal.
struct Case {
  std::uint32_t objects = 0;
  std::uint32_t queries = 0;
  bool is_whole = false;
  std::vector<float> rows;

  static Case random(std::mt19937_64& random) {
    Case c;
    c.objects = static_cast<std::uint32_t>(random() % 400);
    c.queries = static_cast<std::uint32_t>(random() % 10);
    c.is_whole = random() % 2 == 0;
    const int shape = static_cast<int>(random() % 4);
    std::normal_distribution<float> normal;
    std::vector<float> centres(8 * kCaseDims);
    for (float& x : centres) x = 20 * normal(random);
    for (std::uint32_t i = 0; i < c.objects + c.queries; ++i) {
      const std::size_t cluster = random() % 8;
      for (std::uint32_t d = 0; d < kCaseDims; ++d) {
        float x = normal(random);
        if (shape == 0) x = centres[cluster * kCaseDims + d];  // duplicates
        if (shape == 1) x += centres[cluster * kCaseDims + d];
        if (shape == 2) x = std::ldexp(x, static_cast<int>(random() % 60) - 30);
        c.rows.push_back(c.is_whole ? std::round(x) : x);
      }
    }
    return c;
  }

  float value(std::uint32_t a, std::uint32_t b) const {
    float sum = 0;
    for (std::uint32_t d = 0; d < kCaseDims; ++d) {
      const float difference = rows[a * kCaseDims + d] - rows[b * kCaseDims + d];
      sum = is_whole ? sum + std::min(std::abs(difference), 1e4f) : std::fma(difference, difference, sum);
    }
    return sum;
  }
};

template <typename Value>
PlainSpace<Value> space_of(const Case& c) {
  return PlainSpace<Value>(
      c.objects, [&c](std::uint32_t a, std::uint32_t b) { return static_cast<Value>(c.value(a, b)); },
      c.is_whole ? core::CoverRounding{} : core::reduced_rounding<float>(kCaseDims), !c.is_whole);
}

template <typename Value>
std::vector<core::Candidate<Value>> all_within(const Case& c, std::uint64_t query, bool is_self, Value bound,
                                               const engine::PointFilter& filter) {
  std::vector<core::Candidate<Value>> found;
  for (std::uint32_t i = 0; i < c.objects; ++i) {
    const auto asked = static_cast<std::uint32_t>(is_self ? query : c.objects + query);
    const auto value = static_cast<Value>(c.value(asked, i));
    if (value <= bound && filter.admits(query, i)) found.push_back({value, i});
  }
  std::sort(found.begin(), found.end());
  return found;
}

template <typename Value>
void expect_right_answers(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Case c = Case::random(random);
  const PlainSpace<Value> space = space_of<Value>(c);
  const auto metric = [&](std::uint32_t a, std::uint32_t b) { return space.metric(static_cast<Value>(c.value(a, b))); };
  const bool is_one_leaf = random() % 4 == 0;
  const auto leaf_size = static_cast<std::uint32_t>(1 + random() % 12);
  const cpu::PreparedTree<PlainSpace<Value>> tree(
      space, is_one_leaf ? engine::one_leaf_tree(c.objects) : random_cover_tree(c.objects, leaf_size, metric, random),
      1);
  if (!is_one_leaf) {
    EXPECT_EQ(engine::first_cover_violation(tree.tree(), c.objects), "");
    EXPECT_EQ(cpu::CoverDistances(tree, 1).first_wrong(), "");
  }

  const bool is_self = random() % 2 == 0;
  cpu::CoverQueries<PlainSpace<Value>> queries;
  queries.count = is_self ? c.objects : c.queries;
  if (!is_self) {
    queries.outside = [&](std::uint64_t q) { return static_cast<std::uint32_t>(c.objects + q); };
  }
  std::vector<std::uint64_t> allowed(c.objects / 64 + 1);
  for (std::uint64_t& word : allowed) word = random();
  std::vector<std::uint32_t> below(queries.count);
  for (std::uint32_t& end : below) end = static_cast<std::uint32_t>(random() % (c.objects + 1));
  queries.filter.exclude_self = is_self && random() % 2 == 0;
  queries.filter.earlier_only = is_self && random() % 4 == 0;
  if (random() % 4 == 0) queries.filter.allowed = allowed.data();
  if (random() % 4 == 0) queries.filter.below = below.data();

  std::vector<Value> bounds(queries.count);
  for (Value& bound : bounds) bound = static_cast<Value>(random() % 1000) / 10;
  const Value bound = random() % 2 == 0 ? std::numeric_limits<Value>::infinity() : static_cast<Value>(random() % 50);
  const auto k = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 100 : 1 + random() % 10);
  WorkTimes times;
  const engine::RunOptions run{.threads = static_cast<int>(1 + random() % 3), .times = &times};

  std::vector<std::uint32_t> indices(queries.count * k, 7);
  std::vector<Value> values(queries.count * k, 7);
  std::vector<std::uint8_t> exact(queries.count, 7);
  cpu::find_nearest(tree, queries, k, {.bound = bound}, run, indices.data(), values.data(), exact.data());
  for (std::uint64_t q = 0; q < queries.count; ++q) {
    const auto expected = all_within(c, q, is_self, bound, queries.filter);
    EXPECT_EQ(exact[q], 1);
    for (std::uint32_t i = 0; i < k; ++i) {
      const bool is_there = i < expected.size();
      ASSERT_EQ(indices[q * k + i], is_there ? expected[i].index : c.objects) << "query " << q << ", place " << i;
      ASSERT_EQ(values[q * k + i], is_there ? expected[i].distance : std::numeric_limits<Value>::infinity());
    }
  }
  if (is_one_leaf && k > 0 && queries.filter.end(0) == 0xffffffff) {
    EXPECT_EQ(times.evaluations, queries.count * c.objects);
  }

  if (random() % 2 == 0) queries.bounds = bounds.data();
  const auto most = static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random() % 20);
  const auto lists = cpu::find_within(tree, queries, bound, most, run);
  std::vector<std::uint32_t> counts(queries.count, 7);
  cpu::count_within(tree, queries, bound, run, counts.data());
  for (std::uint64_t q = 0; q < queries.count; ++q) {
    auto expected = all_within(c, q, is_self, queries.bounds == nullptr ? bound : bounds[q], queries.filter);
    EXPECT_EQ(counts[q], expected.size()) << "query " << q;
    if (most > 0 && expected.size() > most) expected.resize(most);
    ASSERT_EQ(lists.offsets[q + 1] - lists.offsets[q], expected.size()) << "query " << q;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(lists.indices[lists.offsets[q] + i], expected[i].index) << "query " << q << ", place " << i;
      ASSERT_EQ(lists.reduced[lists.offsets[q] + i], expected[i].distance);
    }
  }

  // Approximate: no distance is too large by more than eps, and what is said to be exact is.
  const double eps = 0.5;
  const auto shrink = static_cast<Value>(c.is_whole ? 1 / (1 + eps) : 1 / ((1 + eps) * (1 + eps)));
  std::vector<std::uint32_t> near(queries.count * k);
  std::vector<Value> near_values(queries.count * k);
  cpu::find_nearest(tree, queries, k, {.bound = bound, .shrink = shrink}, run, near.data(), near_values.data(),
                    exact.data());
  for (std::uint64_t i = 0; i < queries.count * k; ++i) {
    if (exact[i / k] != 0) {
      EXPECT_EQ(near[i], indices[i]);
    }
    EXPECT_LE(space.metric(near_values[i]), (1 + eps) * 1.000001 * space.metric(values[i]));
  }
}

TEST(CoverTreeSearch, AnswersAreThoseOfAllObjects) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with seed " << seed);
    if (seed % 2 == 0) {
      expect_right_answers<float>(seed);
    } else {
      expect_right_answers<double>(seed);
    }
    if (HasFailure()) return;
  }
}

/// Enough of both that queries are put in order, which costs nothing.
TEST(CoverTreeSearch, ManyQueriesAreAnsweredAsOneByOne) {
  constexpr std::uint32_t kObjects = 3000, kQueries = 300, kWide = 100;
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> rows((kObjects + kQueries) * kWide);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i / kWide % 7 * 20) + normal(random);
  const cpu::VectorSpace<float> space(rows.data(), kObjects, kWide, Metric::l2());
  const auto value = [&](std::uint32_t a, std::uint32_t b) {
    float sum = 0;
    for (std::uint32_t d = 0; d < kWide; ++d) {
      const float difference = rows[a * kWide + d] - rows[b * kWide + d];
      sum = std::fma(difference, difference, sum);
    }
    return sum;
  };
  const auto metric = [&](std::uint32_t a, std::uint32_t b) { return space.metric(value(a, b)); };
  const cpu::PreparedTree<cpu::VectorSpace<float>> tree(space, random_cover_tree(kObjects, 20, metric, random), 1);
  ASSERT_TRUE(cpu::NearQueries<cpu::VectorSpace<float>>::pays(tree, kQueries));
  const auto row = [&](std::uint64_t q) { return std::span(rows.data() + (kObjects + q) * kWide, kWide); };
  constexpr std::uint32_t k = 6;
  std::vector<std::uint32_t> indices(kQueries * k), one(k);
  std::vector<float> values(kQueries * k), one_value(k);
  WorkTimes together, alone;
  cpu::find_nearest(tree, {kQueries, row, {}, nullptr}, k, {}, {.threads = 2, .times = &together}, indices.data(),
                    values.data(), nullptr);
  for (std::uint64_t q = 0; q < kQueries; ++q) {
    cpu::find_nearest(tree, {1, [&](std::uint64_t) { return row(q); }, {}, nullptr}, k, {}, {.times = &alone},
                      one.data(), one_value.data(), nullptr);
    for (std::uint32_t i = 0; i < k; ++i) {
      ASSERT_EQ(indices[q * k + i], one[i]) << "query " << q << ", place " << i;
      ASSERT_EQ(values[q * k + i], one_value[i]) << "query " << q << ", place " << i;
    }
  }
  EXPECT_EQ(together.evaluations, alone.evaluations);
}

/// A centre among many copies of itself is measured once.
TEST(CoverTreeSearch, DuplicatesAreMeasuredOnce) {
  constexpr std::uint32_t kCopies = 100000;
  const PlainSpace<float> space(
      kCopies, [](std::uint32_t a, std::uint32_t b) { return (a < kCopies) == (b < kCopies) ? 0.0f : 3.0f; }, {},
      false);
  std::mt19937_64 random(1);
  const auto metric = [](std::uint32_t, std::uint32_t) { return 0.0; };
  const cpu::PreparedTree<PlainSpace<float>> tree(space, random_cover_tree(kCopies, kCopies, metric, random), 1);
  cpu::CoverQueries<PlainSpace<float>> queries;
  queries.count = 1;
  queries.outside = [](std::uint64_t) { return kCopies; };
  WorkTimes times;
  std::vector<std::uint32_t> indices(3);
  std::vector<float> values(3);
  cpu::find_nearest(tree, queries, 3, {}, {.times = &times}, indices.data(), values.data(), nullptr);
  EXPECT_EQ(indices, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(values, (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(times.evaluations, 1u);
}

}  // namespace
}  // namespace kith::test
