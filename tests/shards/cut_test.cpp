// Points are cut at exact medians, regardless of who holds them, in a bounded number of rounds.
#include "shards/byte_transport.hpp"
#include "shards/dealt_points.hpp"
#include "support/random_case.hpp"

#include <kith/shards/cut.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

namespace kith::test {
namespace {

using shards::CutPlan;
using shards::CutRules;
using shards::NumberedPoints;
using shards::PointCutter;
using shards::PointFacts;

/// The top of the tree as the contract says it, by sorting: the numbers of the points of each shard, ascending.
class SortedCuts {
 public:
  SortedCuts(PointView points, const CutRules& rules) : points_(points), rules_(rules), found_(rules.shards) {
    Part all{0, rules.shards, 0, {}, {}, {}};
    for (std::uint64_t i = 0; i < points.rows(); ++i) all.rows.push_back(i);
    for (std::uint32_t d = 0; d < points.dims() && points.rows() > 0; ++d) {
      const auto less = [&](std::uint64_t a, std::uint64_t b) { return points.at(a, d) < points.at(b, d); };
      all.lower.push_back(points.at(*std::min_element(all.rows.begin(), all.rows.end(), less), d) + 0.0);
      all.upper.push_back(points.at(*std::max_element(all.rows.begin(), all.rows.end(), less), d) + 0.0);
    }
    cut(std::move(all));
  }

  const std::vector<std::vector<std::uint64_t>>& shards() const { return found_; }

 private:
  struct Part {
    std::uint32_t first, end, level;
    std::vector<std::uint64_t> rows;
    std::vector<double> lower, upper;
  };

  std::uint64_t points_before(std::uint32_t shard) const { return shard * points_.rows() / rules_.shards; }
  double side(const Part& part, std::uint32_t d) const {
    if (points_.dtype() == DType::f64) return part.upper[d] - part.lower[d];
    return static_cast<double>(static_cast<float>(part.upper[d]) - static_cast<float>(part.lower[d]));
  }

  void cut(Part part) {
    if (part.end - part.first == 1) {
      std::sort(part.rows.begin(), part.rows.end());
      found_[part.first] = std::move(part.rows);
      return;
    }
    const std::uint32_t dims = points_.dims(), middle = (part.first + part.end) / 2;
    std::uint32_t dim = rules_.split == SplitRule::cycle ? part.level % dims : 0;
    for (std::uint32_t d = 1; d < dims && rules_.split == SplitRule::widest && !part.rows.empty(); ++d) {
      if (side(part, d) > side(part, dim)) dim = d;
    }
    std::sort(part.rows.begin(), part.rows.end(), [&](std::uint64_t a, std::uint64_t b) {
      for (std::uint32_t c = 0; c < dims; ++c) {
        const double x = points_.at(a, (dim + c) % dims), y = points_.at(b, (dim + c) % dims);
        if (x != y) return x < y;
      }
      return a < b;
    });
    const auto lefts = static_cast<std::ptrdiff_t>(points_before(middle) - points_before(part.first));
    Part left = part, right = part;
    left.end = right.first = middle;
    left.level = right.level = part.level + 1;
    left.rows.assign(part.rows.begin(), part.rows.begin() + lefts);
    right.rows.assign(part.rows.begin() + lefts, part.rows.end());
    if (!right.rows.empty()) left.upper[dim] = right.lower[dim] = points_.at(right.rows.front(), dim) + 0.0;
    cut(std::move(left));
    cut(std::move(right));
  }

  PointView points_;
  CutRules rules_;
  std::vector<std::vector<std::uint64_t>> found_;
};

NastyShape random_shape(std::mt19937_64& random) {
  return static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
}

TEST(Cut, ShardsAreThoseOfSortedPointsOnRandomCases) {
  constexpr std::uint32_t kShards[] = {1, 2, 3, 4, 6, 8, 11, 16, 31, 32, 64};
  constexpr std::uint64_t kRows[] = {0, 1, 2, 3, 5, 17, 64, 65, 200, 1000};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const NastyShape shape = random_shape(random);
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const std::uint64_t rows = kRows[random() % std::size(kRows)];
    const auto dims = static_cast<std::uint32_t>(1 + random() % 5);
    const PointSet points = nasty_points(shape, dtype, rows, dims, random);
    CutRules rules{.shards = kShards[random() % std::size(kShards)]};
    if (random() % 3 == 0) rules.split = SplitRule::cycle;
    const std::size_t participants = 1 + random() % 5;
    const DealtPoints dealt(points.view(), participants, random_way(random), random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << rows << " points x " << dims << ", shape "
                                    << static_cast<int>(shape) << ", " << rules.shards << " shards");
    const ByteTransport cut(dealt.parts(), rules);
    const SortedCuts expected(points.view(), rules);
    for (std::uint32_t s = 0; s < rules.shards; ++s) {
      const auto numbers = cut.shards()[s].numbers();
      ASSERT_EQ(expected.shards()[s], std::vector<std::uint64_t>(numbers.begin(), numbers.end())) << "shard " << s;
      ASSERT_EQ(numbers.size(), cut.plan().first(s + 1) - cut.plan().first(s));
    }
  }
}

/// The docs' bound: for each level 3 rounds of f32, 6 of f64, for every component that equal points need.
TEST(Cut, RoundsAreBounded) {
  std::mt19937_64 random(1);
  const auto rounds = [](const PointSet& points, std::uint32_t shards) {
    const NumberedPoints all{.points = points.view()};
    const CutRules rules{.shards = shards};
    CutPlan plan(PointFacts::of(all, rules), rules);
    PointCutter cutter(all, rules, 2);
    while (!plan.is_done()) {
      EXPECT_EQ(plan.counts(), plan.unknown().size() * 2048);
      plan.take(cutter.counts(plan));
    }
    return plan.rounds();
  };
  for (const std::uint32_t shards : {2u, 8u, 64u, 1000u}) {
    const auto levels = static_cast<std::uint32_t>(std::bit_width(shards - 1));
    EXPECT_LE(rounds(nasty_points(NastyShape::sorted, DType::f32, 5000, 3, random), shards), 3 * levels);
    EXPECT_LE(rounds(nasty_points(NastyShape::uniform, DType::f64, 5000, 3, random), shards), 6 * levels);
    // No side has a length: numbers of 13 bits alone take two rounds.
    EXPECT_LE(rounds(nasty_points(NastyShape::all_equal, DType::f32, 5000, 7, random), shards), 2 * levels);
    // Three components of a bit each, which take a round each, and numbers.
    EXPECT_LE(rounds(nasty_points(NastyShape::two_values, DType::f32, 5000, 3, random), shards), (3 * 3 + 2) * levels);
  }
  EXPECT_EQ(rounds(nasty_points(NastyShape::uniform, DType::f32, 100, 3, random), 1), 0u);
  EXPECT_EQ(rounds(PointSet(DType::f32, 0, 3), 64), 0u);
}

/// A participant that was lost is replaced by a new one that reads the points again.
TEST(Cut, ANewCutterCountsWhatTheOldOneWouldHave) {
  std::mt19937_64 random(2);
  const PointSet points = nasty_points(NastyShape::grid, DType::f32, 3000, 3, random);
  const NumberedPoints all{.points = points.view()};
  const CutRules rules{.shards = 16};
  CutPlan plan(PointFacts::of(all, rules), rules);
  PointCutter old(all, rules);
  while (!plan.is_done()) {
    const std::vector<std::uint64_t> counts = old.counts(plan);
    ASSERT_EQ(counts, PointCutter(all, rules).counts(plan));
    plan.take(counts);
  }
  EXPECT_EQ(old.shard_counts(plan), PointCutter(all, rules).shard_counts(plan));
}

TEST(Cut, RefusesWhatIsNoSumAndNumbersThatRepeat) {
  const std::vector<float> places(40, 0.5f);
  const NumberedPoints all{.points = PointView(places, 2)};
  const CutRules rules{.shards = 2};
  CutPlan plan(PointFacts::of(all, rules), rules);
  EXPECT_THROW(plan.take(std::vector<std::uint64_t>(5)), UsageError);
  EXPECT_THROW(plan.take(std::vector<std::uint64_t>(plan.counts(), 0)), UsageError);
  const std::vector<std::uint64_t> same(20, 7);
  const NumberedPoints repeated{.points = PointView(places, 2), .numbers = same};
  CutPlan never(PointFacts::of(repeated, rules), rules);
  PointCutter cutter(repeated, rules);
  EXPECT_THROW(while (!never.is_done()) never.take(cutter.counts(never)), UsageError);
  EXPECT_THROW(CutPlan(PointFacts::of(all, rules), {.shards = 0}), UsageError);
  EXPECT_THROW(CutPlan(PointFacts::of(all, rules), {.shards = 4097}), UsageError);
}

}  // namespace
}  // namespace kith::test
