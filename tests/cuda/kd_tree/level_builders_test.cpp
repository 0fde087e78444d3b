// The builders `select` and `segsort` of the GPU on emulated threads: the splits of the CPU's tree, and its leaves.
#include "cpu/kd_tree/build.hpp"
#include "cuda/emulation/emulated_device.hpp"
#include "cuda/kd_tree/build/builders/levels/level_steps.cuh"
#include "cuda/kd_tree/emulated_group_build.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

/// How a tree is built; subtrees and long lists are small, so that few points have large nodes.
struct LevelPlan {
  std::uint32_t leaf_size = 16;
  bool cycles = false;
  std::uint32_t subtree_points = 300;
  std::uint32_t long_list = 100;
};

/// A build up to the points in the order of the leaves.
template <typename T>
struct LevelBuild {
  LevelBuild(const std::vector<T>& rows, std::uint32_t dims, const LevelPlan& plan, bool sorts)
      : shape(tree_shape<T>(rows.size() / dims, dims, plan.leaf_size, plan.cycles)),
        split_dims(shape.geometry.leaves() - 1, 0xcdcd),
        split_values(split_dims.size(), T(-7)),
        boxes(shape.geometry.nodes() * 2 * dims, T(-7)),
        copy(copy_bytes<T>(shape)) {
    LevelTask<T> task;
    task.shape = shape;
    task.source = {rows.data(), dims, 1, nullptr};
    task.tree = {nullptr, split_dims.data(), split_values.data(), boxes.data(), nullptr};
    task.subtree_points = plan.subtree_points;
    task.long_list = plan.long_list;
    Garbage memory(lay_out_levels(task, sorts));
    task.copy = copy.data();
    task.scratch = memory.data();
    task.refused = &refused;
    EmulatedDevice device;
    numbers = LevelSteps<T, EmulatedDevice>(device, task, sorts).run().points.indices;
  }

  TreeShape shape;
  std::vector<std::uint16_t> split_dims;
  std::vector<T> split_values, boxes;
  Garbage copy;
  std::uint32_t refused = 0;
  const std::uint32_t* numbers = nullptr;
};

template <typename T>
void expect_the_tree_by_levels(const std::vector<T>& rows, std::uint32_t dims, const LevelPlan& plan) {
  const auto expected =
      cpu::build_kd_tree<T>(rows.data(), rows.size() / dims, dims,
                            {.leaf_size = plan.leaf_size, .cycles = plan.cycles, .threads = 1, .progress = nullptr});
  for (const bool sorts : {false, true}) {
    SCOPED_TRACE(sorts ? "segsort" : "select");
    const LevelBuild<T> built(rows, dims, plan, sorts);
    const core::KdGeometry& geometry = built.shape.geometry;
    ASSERT_EQ(built.refused, 0u);
    for (std::uint64_t node = 0; node < built.split_dims.size(); ++node) {
      ASSERT_EQ(built.split_dims[node], expected.split_dims[node]) << "node " << node;
      ASSERT_EQ(std::memcmp(&built.split_values[node], &expected.split_values[node], sizeof(T)), 0) << "node " << node;
    }
    for (std::uint64_t leaf = 0; leaf < geometry.leaves(); ++leaf) {
      const std::uint64_t first = geometry.first(geometry.levels, leaf);
      std::vector<std::uint32_t> own(built.numbers + first, built.numbers + geometry.first(geometry.levels, leaf + 1));
      std::ranges::sort(own);
      const std::byte* block = expected.blocks.data() + first * expected.point_bytes;
      const auto* indices = reinterpret_cast<const std::uint32_t*>(block + own.size() * dims * sizeof(T));
      ASSERT_TRUE(std::ranges::equal(own, std::span(indices, own.size()))) << "leaf " << leaf;
    }
  }
}

template <typename T>
class LevelBuilders : public RandomRows<T> {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(LevelBuilders, Types);

TYPED_TEST(LevelBuilders, UniformPointsOfAllDims) {
  for (const std::uint32_t dims : {1u, 2u, 3u, 4u, 5u, 9u, 33u}) {
    SCOPED_TRACE(testing::Message() << dims << " dims");
    const auto points = this->rows(3000, dims, [&](auto, auto) { return this->unit() - 0.25; });
    expect_the_tree_by_levels(points, dims, {.leaf_size = 7, .cycles = dims == 3});
  }
}

TYPED_TEST(LevelBuilders, AnyNumberOfPoints) {
  for (const std::uint64_t count : {1u, 2u, 3u, 7u, 8u, 9u, 31u, 33u, 64u, 255u, 257u, 301u, 1025u}) {
    SCOPED_TRACE(testing::Message() << count << " points");
    const auto points = this->rows(count, 2, [&](auto, auto) { return this->unit(); });
    for (const std::uint32_t leaf_size : {1u, 8u}) expect_the_tree_by_levels(points, 2, {.leaf_size = leaf_size});
  }
}

TYPED_TEST(LevelBuilders, SubtreesOfFullSize) {
  const auto points = this->rows(5000, 3, [&](auto, auto) { return this->unit(); });
  expect_the_tree_by_levels(points, 3, {.leaf_size = 24, .subtree_points = kSubtreePoints});
  expect_the_tree_by_levels(points, 3, {.leaf_size = 1000, .subtree_points = kSubtreePoints});
}

TYPED_TEST(LevelBuilders, TiesOfAllKinds) {
  const auto expect = [&](const char* name, std::uint32_t dims, auto&& make) {
    SCOPED_TRACE(name);
    const auto points = this->rows(2500, dims, make);
    expect_the_tree_by_levels(points, dims, {.cycles = dims == 2});
    expect_the_tree_by_levels(points, dims, {.subtree_points = kSubtreePoints, .long_list = kLongList});
  };
  expect("two values", 3, [&](auto, auto) { return this->below(2); });
  expect("five values", 3, [&](auto, auto) { return this->below(5) - 2.0; });
  expect("all equal", 3, [](auto, auto) { return 0.5; });
  expect("a lattice", 2, [](auto i, auto d) { return d == 0 ? i % 50 : i / 50; });
  expect("mostly equal", 3, [&](auto i, auto) { return i % 100 == 0 ? this->unit() : 0.25; });
  expect("both zeros", 2, [&](auto, auto) {
    return this->below(3) > 0 ? this->unit() - 0.5 : this->below(2) > 0 ? 0.0 : -0.0;
  });
  expect("equal in one dimension", 4, [&](auto, auto d) { return d == 2 ? this->below(3) : this->unit(); });
}

TYPED_TEST(LevelBuilders, RangesOfAllSizes) {
  constexpr double kMost = std::numeric_limits<TypeParam>::max();
  constexpr double kDenormal = std::numeric_limits<TypeParam>::denorm_min();
  const auto expect = [&](const char* name, auto&& make) {
    SCOPED_TRACE(name);
    expect_the_tree_by_levels(this->rows(2000, 3, make), 3, {});
  };
  expect("an outlier", [&](auto i, auto) { return i == 77 ? 1e30 : this->unit(); });
  expect("exponents", [&](auto, auto) { return std::pow(10.0, this->unit() * 60 - 30); });
  expect("huge", [&](auto, auto) { return (this->unit() - 0.5) * 2 * kMost; });
  expect("denormal", [&](auto, auto) { return kDenormal * static_cast<double>(this->below(50)); });
}

TYPED_TEST(LevelBuilders, RefuseWhatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    auto points = this->rows(700, 3, [&](auto, auto) { return this->unit(); });
    points[1234] = static_cast<TypeParam>(bad);
    for (const bool sorts : {false, true}) EXPECT_NE(LevelBuild<TypeParam>(points, 3, {}, sorts).refused, 0u);
  }
}

}  // namespace
}  // namespace kith::test
