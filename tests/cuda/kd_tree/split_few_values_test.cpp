// Builds of the GPU on emulated threads where coordinates have few values, so that ties decide: the bytes of the CPU's
// tree.
#include "cuda/kd_tree/emulated_group_build.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class SplitFewValues : public RandomRows<T> {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SplitFewValues, Types);

/// Then cells refine ties, down to the numbers of the points.
TYPED_TEST(SplitFewValues, FewValuesInEveryDimension) {
  struct Case {
    std::uint32_t values, dims, levels;
  };
  for (const Case& c : {Case{2, 1, 3},
                        {2, 2, 5},
                        {2, 3, 7},
                        {3, 5, 4},
                        {32, 3, 7},
                        {32, 2, 4},
                        {32, 4, 4},
                        {5, 8, 4},
                        {5, 9, 4},
                        {250, 2, 4},
                        {300, 3, 4}}) {  // too many dims, too many values
    SCOPED_TRACE(testing::Message() << c.values << " values, " << c.dims << " dims");
    const auto points = this->rows(1500, c.dims, [&](auto, auto) { return this->below(c.values) * 0.75 - 1; });
    expect_the_tree_of_the_cpu(points, c.dims, {.cycles = c.levels == 4, .top_level = c.levels});
  }
}

TYPED_TEST(SplitFewValues, FewValuesAndOthers) {
  const Plan two_groups{.top_level = 7}, by_turns{.cycles = true, .top_level = 4, .processors = 4};
  const auto expect = [&](const char* name, const Plan& plan, auto&& make) {
    SCOPED_TRACE(name);
    expect_the_tree_of_the_cpu(this->rows(2000, 3, make), 3, plan);
  };
  const auto one = [&](auto, auto d) { return d == 1 ? this->below(4) : this->unit(); };
  expect("in one dimension", two_groups, one);
  expect("in one dimension, by turns", by_turns, one);
  expect("in two dimensions", by_turns, [&](auto, auto d) { return d == 1 ? this->unit() : 5.0 * this->below(9); });
  expect("values that no sample has", two_groups,
         [&](auto i, auto) { return i % 40 == 0 ? 36 * this->unit() - 2 : static_cast<double>(this->below(32)); });
  expect("most are 0", {.top_level = 7, .is_sampled = true},
         [&](auto, auto) { return std::floor(20 * std::pow(this->unit(), 6)); });
  expect("denormal and huge", by_turns, [&](auto, auto) {
    constexpr double kValues[] = {
        std::numeric_limits<TypeParam>::denorm_min(), -0.0, 0.0, 1e-30, -1e30, std::numeric_limits<TypeParam>::max(),
        std::numeric_limits<TypeParam>::lowest()};
    return kValues[this->below(std::size(kValues))];
  });
}

/// However the values lie, and wherever there are others.
TYPED_TEST(SplitFewValues, FewValuesAtUnevenDistances) {
  const Plan two_groups{.top_level = 7, .is_sampled = true}, by_turns{.cycles = true, .top_level = 4, .processors = 4};
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    for (const Plan& plan : {two_groups, by_turns}) {
      SCOPED_TRACE(testing::Message() << name << ", " << plan.top_level << " levels");
      expect_the_tree_of_the_cpu(this->rows(2500, dims, make), dims, plan);
    }
  };
  expect("powers of two", 3, [&](auto, auto) { return std::ldexp(1.0, static_cast<int>(this->below(40))); });
  expect("an outlier", 3, [&](auto i, auto) { return i % 9 == 0 ? 1e9 : static_cast<double>(this->below(32)); });
  expect("bytes and others", 3, [&](auto i, auto) { return i % 20 == 0 ? 300 * this->unit() : this->below(240); });
  expect("tenths", 2,
         [&](auto, auto) { return static_cast<TypeParam>(0.1) * static_cast<TypeParam>(this->below(90)); });
  expect("neighbours", 4,
         [&](auto, auto) { return TypeParam(1) + this->below(20) * std::numeric_limits<TypeParam>::epsilon(); });
  expect("many dims", 6, [&](auto, auto d) { return d % 2 == 0 ? this->below(4 + d) : std::pow(this->unit(), 3); });
}

/// So few points that all of them are samples: the tables have all values, or none if there are more than they hold.
TYPED_TEST(SplitFewValues, TablesHaveTheValuesOfTheSamples) {
  constexpr double kTiny = std::numeric_limits<TypeParam>::denorm_min();
  const auto expect = [&](const char* name, std::uint64_t values, auto&& value) {
    SCOPED_TRACE(testing::Message() << name << ", " << values << " values");
    // The first ones are equal to others among 32, as often as is needed for a closer look.
    const auto points = this->rows(
        1000, 3, [&](auto i, auto d) { return d == 1 ? i % 7 : value((i < 128 ? i % 16 : i) * 37 % values); });
    Groups<TypeParam> groups(points, 3, 2, {.processors = 5});
    groups.run();
    const GroupParameters<TypeParam>& group = groups.scratch.groups[0];
    ASSERT_EQ(group.tied[0], 1u);
    for (std::uint32_t d = 0; d < 3; ++d) {
      std::vector<TypeParam> sorted;
      for (std::uint64_t i = 0; i < 1000; ++i) {
        if (std::isfinite(points[3 * i + d])) sorted.push_back(points[3 * i + d] + TypeParam(0));
      }
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      if (sorted.size() > kTableValues) sorted.clear();
      const TypeParam* table = group.tables + d * kTableValues;
      ASSERT_EQ(std::vector<TypeParam>(table, table + group.table_counts[d]), sorted) << "dimension " << d;
    }
  };
  for (const std::uint64_t values : {1u, 2u, 255u, 256u, 257u, 300u}) {
    expect("integers", values, [](auto i) { return static_cast<double>(i) - 100; });
    expect("neighbours", values,
           [](auto i) { return 1 + static_cast<double>(i) * std::numeric_limits<TypeParam>::epsilon(); });
    expect("denormal numbers", values, [&](auto i) { return (static_cast<double>(i) - 20) * kTiny; });
    expect("powers", values,
           [](auto i) { return std::ldexp(1.0, static_cast<int>(i % 240) - 120) * (i < 240 ? 1 : -1); });
  }
  expect("zeros of both signs", 2, [](auto i) { return i == 0 ? 0.0 : -0.0; });
  expect("what is not finite", 50, [](auto i) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr double kBad[] = {kInfinity, -kInfinity, kNan, -kNan};
    return i < std::size(kBad) ? kBad[i] : static_cast<double>(i);
  });
}

/// Few enough that they are no more than those of points whose coordinates differ.
TYPED_TEST(SplitFewValues, FewValuesMakeFewCandidates) {
  for (const std::uint32_t values : {2u, 32u, 1u << 20}) {
    const auto points = this->rows(30000, 3, [&](auto, auto) { return this->below(values); });
    Groups<TypeParam> groups(points, 3, 3, {.processors = 5});
    groups.run();
    std::uint64_t candidates = 0;
    for (std::uint32_t heap = 1; heap < 8; ++heap) candidates += groups.scratch.groups[0].nodes[heap].candidates;
    EXPECT_LT(candidates, points.size() / 3 / 50) << values << " values";
  }
}

/// Sorted, so that halves of halves are equal points in a box that is none.
TYPED_TEST(SplitFewValues, FewValuesThatAreSorted) {
  const auto points = this->rows(12000, 3, [](auto i, auto d) { return (i / 1500 >> d & 1) * 2.0 - 1; });
  expect_the_tree_of_the_cpu(points, 3, {.top_level = 7, .processors = 8});
}

}  // namespace
}  // namespace kith::test
