// Builds whose upper levels are split by a cluster in shared memory, on emulated threads: the same bytes as the CPU's
// builder.
#include "cuda/kd_tree/emulated_group_build.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
class SplitResident : public RandomRows<T> {
 protected:
  /// Builds, and makes sure that it was by a cluster of so many blocks; 0: pass by pass.
  void expect_tree(const std::vector<T>& points, std::uint32_t dims, std::uint32_t top_level, std::uint32_t blocks,
                   bool cycles = false) {
    const Plan plan{.cycles = cycles, .top_level = top_level, .most_cluster = 4};
    const TreeShape shape = tree_shape<T>(points.size() / dims, dims, plan.leaf_size, cycles);
    const BuildScratch<T> scratch = lay_out_scratch<T>(shape, top_level, limits_of(plan));
    ASSERT_EQ(scratch.resident.blocks, blocks);
    ASSERT_EQ(scratch.groups.empty(), blocks > 0);
    expect_the_tree_of_the_cpu(points, dims, plan);
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SplitResident, Types);

TYPED_TEST(SplitResident, UniformPointsOfAllDims) {
  for (std::uint32_t dims = 1; dims <= kResidentDims + 1; ++dims) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    const auto points = this->rows(1100 + 100 * dims, dims, [&](auto, auto) { return this->unit() - 0.25; });
    this->expect_tree(points, dims, 4, dims <= kResidentDims ? 2 : 0, dims % 4 == 3);
    if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
  }
}

/// Of one block to four, and one level more than there may be.
TYPED_TEST(SplitResident, AllNumbersOfLevels) {
  for (const std::uint32_t top : {1u, 2u, 3u, 4u, 5u, 6u}) {
    SCOPED_TRACE(testing::Message() << top << " levels");
    const auto points = this->rows((80u << top) + 11, 3, [&](auto, auto) { return this->unit(); });
    this->expect_tree(points, 3, top, top == 6 ? 0 : top == 5 ? 4 : top == 4 ? 2 : 1);
    if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
  }
}

TYPED_TEST(SplitResident, PowersOfTwoAndTheirNeighbours) {
  for (const std::uint64_t n : {129u, 255u, 256u, 257u, 511u, 512u, 513u, 1025u}) {
    SCOPED_TRACE(testing::Message() << n << " points");
    const auto points = this->rows(n, 2, [&](auto, auto) { return this->unit(); });
    this->expect_tree(points, 2, 3, n == 1025 ? 2 : 1);
    if (this->HasFatalFailure() || this->HasNonfatalFailure()) return;
  }
}

TYPED_TEST(SplitResident, TiesOfAllKinds) {
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    SCOPED_TRACE(name);
    this->expect_tree(this->rows(2100, dims, make), dims, 4, 4, dims == 2);
  };
  expect("two values", 3, [&](auto, auto) { return this->below(2); });
  expect("five values", 3, [&](auto, auto) { return this->below(5) - 2.0; });
  expect("all equal", 3, [](auto, auto) { return 0.5; });
  expect("a lattice", 2, [](auto i, auto d) { return d == 0 ? i % 50 : i / 50; });
  expect("a lattice of cubes", 3, [](auto i, auto d) { return d == 0 ? i % 13 : d == 1 ? i / 13 % 13 : i / 169; });
  expect("mostly equal", 3, [&](auto i, auto) { return i % 100 == 0 ? this->unit() : 0.25; });
  expect("both zeros", 2, [&](auto, auto) {
    return this->below(3) > 0 ? this->unit() - 0.5 : this->below(2) > 0 ? 0.0 : -0.0;
  });
  expect("sorted", 3, [&](auto i, auto d) { return d == 0 ? static_cast<double>(i) : this->unit(); });
}

TYPED_TEST(SplitResident, UnevenPoints) {
  const auto expect = [&](const char* name, auto&& make) {
    SCOPED_TRACE(name);
    this->expect_tree(this->rows(2100, 3, make), 3, 4, 4);
  };
  expect("an outlier", [&](auto i, auto) { return i == 1234 ? 1e30 : this->unit(); });
  expect("crowds", [&](auto, auto) { return static_cast<double>(this->below(3)) + 1e-6 * this->unit(); });
  expect("powers", [&](auto, auto) { return std::pow(this->unit(), 30.0); });
  expect("huge", [&](auto, auto) { return (this->unit() - 0.5) * std::numeric_limits<TypeParam>::max() * 1.9; });
  expect("denormal", [&](auto, auto) {
    return static_cast<double>(this->below(1000)) * static_cast<double>(std::numeric_limits<TypeParam>::denorm_min());
  });
}

TYPED_TEST(SplitResident, WhatIsNotFiniteIsRefused) {
  constexpr TypeParam kInfinity = std::numeric_limits<TypeParam>::infinity();
  constexpr TypeParam kNan = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const TypeParam bad : {kNan, -kNan, kInfinity, -kInfinity}) {
    auto points = this->rows(1500, 3, [&](auto, auto) { return this->unit(); });
    points[this->below(points.size())] = bad;
    Groups<TypeParam> groups(points, 3, 4, limits_of({.most_cluster = 4}));
    ASSERT_GT(groups.scratch.resident.blocks, 0u);
    groups.run();
    EXPECT_EQ(*groups.scratch.refused, 1u) << static_cast<double>(bad);
    for (std::uint64_t i = 0; i < 1500; ++i) {  // the finish reads what was never written otherwise
      ASSERT_EQ(groups.arranged.index(i), 0u) << "place " << i;
      ASSERT_EQ(groups.arranged.values[i], TypeParam(0)) << "place " << i;
    }
  }
}

/// Whole clusters up to the limits, passes beyond them and where there are no clusters; memory is enough for both.
TYPED_TEST(SplitResident, LimitsOfThePlan) {
  const auto blocks = [](std::uint64_t points, std::uint32_t dims, std::uint32_t levels, std::uint32_t most_cluster,
                         std::uint32_t shared_bytes = kMostSharedBytes) {
    const TreeShape shape = tree_shape<TypeParam>(points, dims, 24, false);
    const auto group = plan_resident<TypeParam>(shape, levels, most_cluster, shared_bytes);
    EXPECT_LE(ResidentLayout<TypeParam>{group.capacity}.bytes(dims), shared_bytes);
    return group.blocks;
  };
  EXPECT_EQ(blocks(10000, 3, 3, 16), 16u);
  EXPECT_EQ(blocks(8191, 3, 2, 16), 8u);
  EXPECT_EQ(blocks(10000, 3, 3, 8), 8u);
  EXPECT_EQ(blocks(10000, 3, 3, 2), 0u);  // too many for a block
  EXPECT_EQ(blocks(10000, 3, 3, 0), 0u);
  EXPECT_EQ(blocks(1000, 3, 0, 16), 0u);
  EXPECT_EQ(blocks(kMostResidentPoints, 3, 4, 16), 16u);
  EXPECT_EQ(blocks(kMostResidentPoints, 3, 4, 8), 8u);
  EXPECT_EQ(blocks(kMostResidentPoints + 1, 3, 5, 16), 0u);
  EXPECT_EQ(blocks(kMostResidentPoints, kResidentDims, 5, 16), 16u);
  EXPECT_EQ(blocks(kMostResidentPoints, kResidentDims, 6, 16), 0u);
  EXPECT_EQ(blocks(10000, kResidentDims + 1, 4, 16), 0u);
  EXPECT_EQ(blocks(kMostResidentPoints, kResidentDims, 5, 16, 64 << 10), 0u);
  for (const std::uint64_t points : {2100u, 10000u, 32768u}) {
    const TreeShape shape = tree_shape<TypeParam>(points, 3, 24, false);
    const FinishPlan plan = plan_finish<TypeParam>(points, 3, 24);
    const BuildMemory memory = build_memory<TypeParam>(shape, 24, kMostSharedBytes, Builder::automatic);
    const auto scratch = lay_out_scratch<TypeParam>(
        shape, plan.top_level, {.processors = 132, .shared_bytes = kMostSharedBytes, .most_cluster = kMostCluster});
    EXPECT_GT(scratch.resident.blocks, 0u);
    EXPECT_TRUE(scratch.zeroed.empty());
    EXPECT_LE(scratch.bytes + 2 * copy_bytes<TypeParam>(shape), memory.peak_bytes);
  }
}

}  // namespace
}  // namespace kith::test
