// The GPU's check of a tree, on the GPU: the CPU's answer, and trees of a size that the emulation does not reach.
#include "cuda/kd_tree/check/check_tree.hpp"

#include "engine/kd_tree/tree_sections.hpp"
#include "cuda/kd_tree/loose_tree.hpp"
#include "cuda/on_device.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
bool device_accepts(const LooseTree<T>& tree) {
  const DeviceArray<std::byte> blocks(tree.blocks);
  const DeviceArray<std::uint16_t> split_dims(tree.split_dims);
  const DeviceArray<T> split_values(tree.split_values);
  const DeviceArray<T> boxes(tree.boxes);
  const DeviceArray<std::uint32_t> smallest(tree.smallest);
  const cuda::TreeShape shape = tree.device_shape();
  const std::vector<std::byte> garbage(cuda::check_scratch_bytes(shape.geometry), std::byte{0xa5});
  const DeviceArray<std::byte> scratch(garbage);
  return cuda::is_contract_tree<T>(
      {blocks.data(), split_dims.data(), split_values.data(), boxes.data(), smallest.data()}, shape,
      tree.shape.leaf_size, scratch.data(), nullptr);
}

template <typename T>
class SmallCheckOnDevice : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallCheckOnDevice, Types);

TYPED_TEST(SmallCheckOnDevice, AnswersAsTheCpuOnRandomCases) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (std::uint64_t seed = 0; seed < rounds(200); ++seed) {
    std::mt19937_64 random(seed);
    LooseTree<TypeParam> tree = random_tree<TypeParam>(random, 2000);
    ASSERT_TRUE(device_accepts(tree)) << "seed " << seed;
    damage(tree, random, seed % kKindsOfHarm);
    const std::string violation = engine::first_violation(tree.view(), 1);
    ASSERT_EQ(device_accepts(tree), violation.empty()) << "seed " << seed << ": " << violation;
  }
}

TEST(CheckOnDevice, AcceptsLargeTreesAndFindsOneWrongTie) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  for (const NastyShape points_shape : {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal}) {
    std::mt19937_64 random(7);
    const PointSet points = nasty_points(points_shape, DType::f32, 1'000'000, 3, random);
    LooseTree<float> tree(cpu::build_kd_tree(points.values<float>().data(), points.rows(), 3, {.leaf_size = 8}));
    EXPECT_TRUE(device_accepts(tree));
    const std::uint64_t middle = tree.shape.geometry.leaves() / 2;
    for (const std::uint64_t other : {middle - 1, std::uint64_t{0}, 2 * middle - 1}) {
      LooseTree<float> wrong = tree;
      std::swap(wrong.numbers(middle)[0], wrong.numbers(other)[0]);
      wrong.sort_leaf(middle);
      wrong.sort_leaf(other);
      wrong.derive_nodes();
      EXPECT_EQ(device_accepts(wrong), engine::first_violation(wrong.view(), 0).empty()) << "leaf " << other;
    }
  }
}

}  // namespace
}  // namespace kith::test
