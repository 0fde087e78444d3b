// The GPU's check of a tree, its kernels run on the host: it accepts what the CPU builds and refuses what the CPU
// refuses.
#include "cuda/kd_tree/check/check_tree_steps.cuh"

#include "engine/kd_tree/tree_sections.hpp"
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/loose_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
bool is_contract_tree(LooseTree<T>& tree) {
  const cuda::TreeShape shape = tree.device_shape();
  const cuda::TreeArrays<T> arrays{tree.blocks.data(), tree.split_dims.data(), tree.split_values.data(),
                                   tree.boxes.data(), tree.smallest.data()};
  const cuda::CheckScratchLayout layout(shape.geometry);
  std::vector<std::byte> scratch(layout.bytes, std::byte{0xa5});
  std::fill_n(scratch.begin(), layout.zero_bytes, std::byte{0});
  const cuda::TreeCheck<T> check = cuda::tree_check(arrays, shape, scratch.data());
  cuda::launch_check_steps(check, scratch.data(), [](std::uint64_t threads, auto kernel, auto... arguments) {
    const std::uint32_t blocks = threads > 64 ? 2 : 1;
    cuda::emulation::run_grid(blocks, 64, 0, cuda::emulation::Residence::one_by_one, [&] { kernel(arguments...); });
  });
  return *check.refused == 0;
}

template <typename T>
class CheckTree : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckTree, Types);

TYPED_TEST(CheckTree, AcceptsWhatTheCpuBuildsOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    LooseTree<TypeParam> tree = random_tree<TypeParam>(random, seed % 10 == 0 ? 3000 : 300);
    ASSERT_TRUE(is_contract_tree(tree));
  }
}

TYPED_TEST(CheckTree, RefusesWhatTheCpuRefusesOnRandomCases) {
  std::vector<int> refused(kKindsOfHarm), accepted(kKindsOfHarm);
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    std::mt19937_64 random(seed);
    LooseTree<TypeParam> tree = random_tree<TypeParam>(random, seed % 30 == 0 ? 2000 : 150);
    const std::uint64_t kind = seed % kKindsOfHarm;
    damage(tree, random, kind);
    const std::string violation = engine::first_violation(tree.view(), 1);
    ASSERT_EQ(is_contract_tree(tree), violation.empty())
        << "seed " << seed << ", damage " << kind << ": " << violation << "; " << tree.shape.geometry.points << " x "
        << tree.shape.dims << ", leaves of " << tree.shape.leaf_size;
    ++(violation.empty() ? accepted : refused)[kind];
  }
  for (std::uint64_t kind = 0; kind < kKindsOfHarm; ++kind) EXPECT_GT(refused[kind], 0) << "damage " << kind;
}

/// Enough leaves for two joins above them, every split a tie: one wrong pair at any level is found.
TYPED_TEST(CheckTree, FindsATieInTheWrongOrderAtEveryLevel) {
  using T = TypeParam;
  constexpr std::uint64_t kRows = 2100;
  constexpr std::uint32_t kDims = 3;
  std::vector<T> rows(kRows * kDims, T(7));
  for (std::uint64_t i = 0; i < kRows; ++i) rows[i * kDims + 1] = static_cast<T>(i % 2);
  LooseTree<T> tree(cpu::build_kd_tree(rows.data(), kRows, kDims, {.leaf_size = 2, .threads = 1}));
  const std::uint32_t levels = tree.shape.geometry.levels;
  ASSERT_EQ(levels, 11u);
  ASSERT_TRUE(is_contract_tree(tree));
  for (std::uint32_t level = 0; level < levels; ++level) {
    // The leaves on both sides of the middle of a node of this level.
    const std::uint64_t half = std::uint64_t{1} << (levels - level - 1);
    const std::uint64_t right = (2 * (std::uint64_t{1} << level) / 3) * 2 * half + half, left = right - 1;
    LooseTree<T> wrong = tree;
    std::swap(wrong.numbers(left)[0], wrong.numbers(right)[0]);
    wrong.sort_leaf(left);
    wrong.sort_leaf(right);
    wrong.derive_nodes();
    EXPECT_FALSE(engine::first_violation(wrong.view(), 1).empty()) << "level " << level;
    EXPECT_FALSE(is_contract_tree(wrong)) << "level " << level;
  }
}

}  // namespace
}  // namespace kith::test
