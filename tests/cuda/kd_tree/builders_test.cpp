// The builders with names, on emulated threads, write the bytes that the CPU builder writes.
#include "cuda/kd_tree/build/builders/builder_scratch.hpp"
#include "cuda/kd_tree/build/builders/levels/level_steps.cuh"
#include "cuda/kd_tree/build/builders/presort_steps.cuh"

#include "cuda/emulation/emulated_device.hpp"
#include "cuda/kd_tree/emulated_group_build.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

constexpr std::uint32_t kNastyShapes = static_cast<std::uint32_t>(NastyShape::count_of_shapes);

struct NamedCase {
  std::uint32_t dims = 3;
  std::uint32_t leaf_size = 16;
  bool cycles = false;
  bool has_many_rows = false;  ///< of the finish: there are as many points as that needs
};

template <typename T>
ArrangedPoints<T> arrange(Builder builder, EmulatedDevice& device, const ArrangeTask<T>& task) {
  if (builder == Builder::presort) return Presort<T, EmulatedDevice>(device, task).run();
  return LevelSteps<T, EmulatedDevice>(device, {task}, builder == Builder::segsort).run();
}

template <typename T>
void finish_all(const FinishParameters<T>& given, const FinishPlan& plan) {
  const auto kernel = !plan.is_staged         ? finish_subtrees<T, false, kFewRows>
                      : plan.rows == kFewRows ? finish_subtrees<T, true, kFewRows>
                                              : finish_subtrees<T, true, kManyRows, 0>;
  run_kernel("finish", 0, kernel, 1u << plan.top_level, plan.threads, plan.shared_bytes, Together{}, given);
}

/// Builds on emulated threads; whether points were refused.
template <typename T>
bool expect_tree_by(Builder builder, const std::vector<T>& rows, const NamedCase& c) {
  const std::uint64_t n = rows.size() / c.dims;
  const auto expected =
      cpu::build_kd_tree<T>(rows.data(), n, c.dims, {.leaf_size = c.leaf_size, .cycles = c.cycles, .threads = 1});
  const TreeShape shape = tree_shape<T>(n, c.dims, c.leaf_size, c.cycles);
  FinishPlan plan = plan_finish<T>(n, c.dims, c.leaf_size, emulation::shared_limit());
  if (c.has_many_rows) {
    plan.threads = 64;
    plan.rows = kManyRows;
    plan.capacity = plan.rows * plan.threads;
    plan.top_level = 0;
    while (core::KdGeometry{n, plan.top_level}.most_per_leaf() > plan.capacity) ++plan.top_level;
    plan.shared_bytes = FinishLayout<T>(plan.capacity, plan.threads, c.dims, true).bytes;
  }
  const BuilderScratch own = scratch_of_builder<T>(builder, shape);
  Garbage memory(lay_out_named(own, plan.top_level, nullptr).bytes);
  const NamedScratch scratch = lay_out_named(own, plan.top_level, memory.data());
  std::memset(memory.data(), 0, scratch.zero_bytes);
  Garbage copy(copy_bytes<T>(shape)), blocks(copy_bytes<T>(shape));
  std::memcpy(blocks.data(), rows.data(), rows.size() * sizeof(T));  // as from host memory
  std::vector<std::uint16_t> split_dims(shape.geometry.leaves() - 1, 0xcdcd);
  std::vector<T> split_values(split_dims.size(), T(-7)), boxes(shape.geometry.nodes() * 2 * c.dims, T(-7));
  std::vector<std::uint32_t> smallest(shape.geometry.nodes(), 0xcdcdcdcd);
  const TreeArrays<T> tree{nullptr, split_dims.data(), split_values.data(), boxes.data(), smallest.data()};
  const PointSource<T> source{reinterpret_cast<const T*>(blocks.data()), c.dims, 1, nullptr};
  EmulatedDevice device;
  const ArrangedPoints<T> arranged = arrange<T>(
      builder, device,
      {shape, plan.top_level, source, tree, copy.data(), scratch.builders, scratch.refused, emulation::shared_limit()});
  if (arranged.is_refused) return true;
  finish_all(finish_of_named(scratch, plan, shape, arranged, tree, blocks.data()), plan);
  if (*scratch.refused != 0) return true;
  const auto compare = [&] {
    for (std::uint64_t node = 0; node < split_dims.size(); ++node) {
      ASSERT_EQ(split_dims[node], expected.split_dims[node]) << "node " << node;
      ASSERT_EQ(std::memcmp(&split_values[node], &expected.split_values[node], sizeof(T)), 0) << "node " << node;
    }
    ASSERT_EQ(std::memcmp(blocks.data(), expected.blocks.data(), expected.blocks.size_bytes()), 0);
    ASSERT_EQ(std::memcmp(boxes.data(), expected.boxes.data(), expected.boxes.size_bytes()), 0);
    ASSERT_EQ(std::memcmp(smallest.data(), expected.smallest.data(), expected.smallest.size_bytes()), 0);
  };
  compare();
  return false;
}

template <typename T>
std::vector<T> nasty_rows(NastyShape shape, std::uint64_t n, std::uint32_t dims, std::mt19937_64& random) {
  const PointSet points = nasty_points(shape, sizeof(T) == 4 ? DType::f32 : DType::f64, n, dims, random);
  const auto values = points.values<T>();
  return {values.begin(), values.end()};
}

class NamedBuilders : public testing::TestWithParam<Builder> {};

template <typename T>
void expect_trees_of_random_cases(Builder builder, std::uint64_t seeds) {
  constexpr std::uint32_t kDims[] = {1, 2, 3, 4, 5, 8, 9, 33};
  constexpr std::uint32_t kLeafSizes[] = {1, 3, 8, 24, 64, 500};
  for (std::uint64_t seed = 0; seed < seeds && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const auto shape = static_cast<NastyShape>(random() % kNastyShapes);
    NamedCase c;
    c.dims = kDims[random() % std::size(kDims)];
    c.leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
    c.cycles = random() % 3 == 0;
    const std::uint64_t n = random() % (c.dims > 9 ? 500 : 4000);
    EXPECT_FALSE(expect_tree_by(builder, nasty_rows<T>(shape, n, c.dims, random), c));
  }
}

TEST_P(NamedBuilders, GiveTheTreeOfTheCpuOnRandomCases) {
  expect_trees_of_random_cases<float>(GetParam(), 60);
  expect_trees_of_random_cases<double>(GetParam(), 30);
}

TEST_P(NamedBuilders, KnowNoPointsAndVeryFew) {
  std::mt19937_64 random(3);
  for (const std::uint32_t leaf_size : {1u, 3u, 24u}) {
    for (std::uint64_t n = 0; n < 9; ++n) {
      for (const std::uint32_t dims : {1u, 2u, 4u}) {
        const auto rows = nasty_rows<float>(NastyShape::uniform, n, dims, random);
        EXPECT_FALSE(expect_tree_by<float>(GetParam(), rows, {.dims = dims, .leaf_size = leaf_size}));
      }
    }
  }
}

/// More points than a block takes, and than a tile; few, some and all of them equal.
TEST_P(NamedBuilders, SplitLargeNodes) {
  std::mt19937_64 random(4);
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal}) {
    for (const std::uint32_t dims : {2u, 3u}) {
      EXPECT_FALSE(expect_tree_by<float>(GetParam(), nasty_rows<float>(shape, 13'001, dims, random),
                                         {.dims = dims, .leaf_size = 24}));
    }
  }
  std::vector<double> rows(20'000 * 2);  // pairs and triples of equal coordinates
  for (double& value : rows) value = static_cast<double>(random() % 15'000);
  EXPECT_FALSE(expect_tree_by<double>(GetParam(), rows, {.dims = 2, .leaf_size = 16}));
}

/// So many dims that no subtree fits into shared memory.
TEST_P(NamedBuilders, SplitPointsOfManyDims) {
  std::mt19937_64 random(5);
  const emulation::SharedLimit limit(48 << 10);
  for (const std::uint32_t leaf_size : {2u, 40u}) {
    EXPECT_FALSE(expect_tree_by<float>(GetParam(), nasty_rows<float>(NastyShape::clusters, 300, 70, random),
                                       {.dims = 70, .leaf_size = leaf_size}));
  }
}

TEST_P(NamedBuilders, EndInAFinishOfManyRows) {
  std::mt19937_64 random(6);
  for (const std::uint64_t n : {1000u, 2001u}) {
    EXPECT_FALSE(expect_tree_by<float>(GetParam(), nasty_rows<float>(NastyShape::uniform, n, 3, random),
                                       {.dims = 3, .leaf_size = 24, .has_many_rows = true}));
  }
}

TEST_P(NamedBuilders, RefuseWhatIsNotFinite) {
  std::mt19937_64 random(7);
  for (const std::uint64_t n : {5u, 3000u}) {
    auto rows = nasty_rows<float>(NastyShape::uniform, n, 3, random);
    rows[rows.size() - 2] = NAN;
    rows[3] = INFINITY;
    EXPECT_TRUE(expect_tree_by<float>(GetParam(), rows, {}));
  }
}

INSTANTIATE_TEST_SUITE_P(OnGpus, NamedBuilders, testing::Values(Builder::presort, Builder::select, Builder::segsort),
                         [](const auto& param) { return std::string(name_of(param.param)); });

}  // namespace
}  // namespace kith::test
