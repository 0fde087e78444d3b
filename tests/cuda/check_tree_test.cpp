// The GPU's check of a tree, its kernels run on the host: it accepts what the CPU builds and refuses what the CPU
// refuses.
#include "cuda/kd_tree/check_tree_steps.cuh"

#include "cpu/kd_tree/build.hpp"
#include "cpu/kd_tree/validate_tree.hpp"
#include "cuda/emulation/grid.hpp"
#include "support/random_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace kith::test {
namespace {

/// A tree whose arrays may be written to.
template <typename T>
struct LooseTree {
  cpu::KdTree<T> shape;
  std::vector<std::byte> blocks;
  std::vector<std::uint16_t> split_dims;
  std::vector<T> split_values;
  std::vector<T> boxes;
  std::vector<std::uint32_t> smallest;

  explicit LooseTree(const cpu::KdTree<T>& tree)
      : shape(tree),
        blocks(tree.blocks.begin(), tree.blocks.end()),
        split_dims(tree.split_dims.begin(), tree.split_dims.end()),
        split_values(tree.split_values.begin(), tree.split_values.end()),
        boxes(tree.boxes.begin(), tree.boxes.end()),
        smallest(tree.smallest.begin(), tree.smallest.end()) {}

  cpu::KdTree<T> view() const {
    cpu::KdTree<T> tree = shape;
    tree.blocks = blocks;
    tree.split_dims = split_dims;
    tree.split_values = split_values;
    tree.boxes = boxes;
    tree.smallest = smallest;
    return tree;
  }

  T* block(std::uint64_t leaf) { return const_cast<T*>(view().block(leaf)); }
  std::uint32_t* numbers(std::uint64_t leaf) { return const_cast<std::uint32_t*>(view().block_indices(leaf)); }

  /// Points of a leaf in the order of their numbers again.
  void sort_leaf(std::uint64_t leaf) {
    const std::uint32_t count = view().leaf_count(leaf);
    std::vector<std::uint32_t> order(count), old_numbers(numbers(leaf), numbers(leaf) + count);
    const std::vector<T> old_values(block(leaf), block(leaf) + std::size_t{count} * shape.dims);
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return old_numbers[a] < old_numbers[b]; });
    for (std::uint32_t i = 0; i < count; ++i) {
      numbers(leaf)[i] = old_numbers[order[i]];
      for (std::uint32_t d = 0; d < shape.dims; ++d) {
        block(leaf)[std::size_t{d} * count + i] = old_values[std::size_t{d} * count + order[i]];
      }
    }
  }

  /// All that follows from the points where they lie: boxes and smallest numbers.
  void derive_nodes() {
    const core::KdGeometry& geometry = shape.geometry;
    const std::uint32_t dims = shape.dims;
    for (std::uint64_t node = geometry.nodes(); node-- > 0;) {
      T* low = boxes.data() + node * 2 * dims;
      if (node < geometry.leaves() - 1) {
        const T* left = boxes.data() + (2 * node + 1) * 2 * dims;
        for (std::uint32_t d = 0; d < dims; ++d) {
          low[d] = std::min(left[d], left[2 * dims + d]);
          low[dims + d] = std::max(left[dims + d], left[3 * dims + d]);
        }
        smallest[node] = std::min(smallest[2 * node + 1], smallest[2 * node + 2]);
        continue;
      }
      const std::uint64_t leaf = node - (geometry.leaves() - 1);
      const std::uint32_t count = shape.leaf_count(leaf);
      smallest[node] = count == 0 ? cpu::kNoPoint : numbers(leaf)[0];
      for (std::uint32_t d = 0; d < dims; ++d) {
        low[d] = std::numeric_limits<T>::infinity();
        low[dims + d] = -low[d];
        for (std::uint32_t i = 0; i < count; ++i) {
          low[d] = std::min(low[d], block(leaf)[std::size_t{d} * count + i] + T(0));
          low[dims + d] = std::max(low[dims + d], block(leaf)[std::size_t{d} * count + i] + T(0));
        }
      }
    }
  }

  /// Split values that fit the boxes, where the right half is not empty.
  void derive_split_values() {
    for (std::uint64_t node = 0; node < split_values.size(); ++node) {
      const T value = boxes[(2 * node + 2) * 2 * shape.dims + split_dims[node] % shape.dims];
      if (std::isfinite(value)) split_values[node] = value;
    }
  }
};

template <typename T>
bool is_contract_tree(LooseTree<T>& tree) {
  const cuda::TreeShape shape{tree.shape.geometry, tree.shape.dims, tree.shape.point_bytes, tree.shape.cycles};
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
LooseTree<T> random_tree(std::mt19937_64& random, std::uint64_t most_rows) {
  const auto shape = static_cast<NastyShape>(random() % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
  const auto dims = static_cast<std::uint32_t>(1 + random() % 9);
  constexpr std::uint32_t kLeafSizes[] = {1, 2, 3, 7, 24, 40, 64, 500, 1024};
  const std::uint32_t leaf_size = kLeafSizes[random() % std::size(kLeafSizes)];
  const std::uint64_t rows = random() % (leaf_size < 7 ? most_rows / 4 + 1 : most_rows + 1);
  const PointSet points = nasty_points(shape, dtype_of<T>, rows, dims, random);
  return LooseTree<T>(cpu::build_kd_tree(points.view().row<T>(0), rows, dims,
                                         {.leaf_size = leaf_size, .cycles = random() % 3 == 0, .threads = 1}));
}

template <typename T>
void flip_bit(std::vector<T>& values, std::mt19937_64& random) {
  if (values.empty()) return;
  auto* bytes = reinterpret_cast<unsigned char*>(values.data() + random() % values.size());
  const std::uint64_t bit = random() % (8 * sizeof(T));
  bytes[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
}

/// Two points anywhere change places, numbers and all or only the numbers; what follows from it is put right or not.
template <typename T>
void swap_points(LooseTree<T>& tree, std::mt19937_64& random) {
  const std::uint64_t leaves = tree.shape.geometry.leaves();
  // Neighbours often: there the super-keys are close.
  const std::uint64_t a = random() % leaves, b = random() % 2 == 0 ? random() % leaves : std::min(a + 1, leaves - 1);
  const std::uint32_t count_a = tree.shape.leaf_count(a), count_b = tree.shape.leaf_count(b);
  if (count_a == 0 || count_b == 0) return;
  const std::uint32_t i = static_cast<std::uint32_t>(random() % count_a),
                      j = static_cast<std::uint32_t>(random() % count_b);
  std::swap(tree.numbers(a)[i], tree.numbers(b)[j]);
  if (random() % 2 == 0) {
    for (std::uint32_t d = 0; d < tree.shape.dims; ++d) {
      std::swap(tree.block(a)[std::size_t{d} * count_a + i], tree.block(b)[std::size_t{d} * count_b + j]);
    }
  }
  if (random() % 8 != 0) {
    tree.sort_leaf(a);
    tree.sort_leaf(b);
  }
  if (random() % 8 != 0) tree.derive_nodes();
  if (random() % 2 == 0) tree.derive_split_values();
}

template <typename T>
void damage(LooseTree<T>& tree, std::mt19937_64& random, std::uint64_t kind) {
  const std::uint64_t leaf = random() % tree.shape.geometry.leaves();
  const std::uint32_t count = tree.shape.leaf_count(leaf);
  const std::uint64_t i = count == 0 ? 0 : random() % count;
  const auto pick = [&](auto& values) -> auto& { return values[random() % values.size()]; };
  switch (kind) {
    case 0:
      return flip_bit(tree.blocks, random);
    case 1:
      return flip_bit(tree.split_dims, random);
    case 2:
      return flip_bit(tree.split_values, random);
    case 3:
      return flip_bit(tree.boxes, random);
    case 4:
      return flip_bit(tree.smallest, random);
    case 5:  // -0 where a zero stands, in what is derived and in what is not
      for (T& value : tree.boxes) {
        if (value == 0 && random() % 4 == 0) value = -value;
      }
      return;
    case 6:
      for (T& value : tree.split_values) {
        if (value == 0) value = -value;
      }
      return;
    case 7:
      if (count > 0) tree.block(leaf)[i] = random() % 2 == 0 ? NAN : INFINITY;
      if (random() % 2 == 0) tree.derive_nodes();
      return;
    case 8:  // another dimension
      if (!tree.split_dims.empty())
        pick(tree.split_dims) = static_cast<std::uint16_t>(random() % (tree.shape.dims + 1));
      if (random() % 2 == 0) tree.derive_split_values();
      return;
    case 9:  // a number twice
      if (count > 0) tree.numbers(leaf)[i] = static_cast<std::uint32_t>(random() % (tree.shape.geometry.points + 1));
      tree.sort_leaf(leaf);
      tree.derive_nodes();
      return;
    case 10:
      if (!tree.split_values.empty()) {
        T& value = pick(tree.split_values);
        value = random() % 2 == 0 ? std::nextafter(value, T(0)) : pick(tree.boxes);
      }
      return;
    case 11:  // a number out of all bounds
      if (count > 0) tree.numbers(leaf)[i] = static_cast<std::uint32_t>(0x80000000u + random() % 0x80000000u);
      return;
    case 12:  // all zeros, all ones
      std::fill(tree.blocks.begin(), tree.blocks.end(), random() % 2 == 0 ? std::byte{0} : std::byte{0xff});
      std::fill(tree.split_dims.begin(), tree.split_dims.end(), static_cast<std::uint16_t>(random()));
      return;
    default:
      return swap_points(tree, random);
  }
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
  constexpr std::uint64_t kKinds = 20;  // from 13 on: points change places
  std::vector<int> refused(kKinds), accepted(kKinds);
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    std::mt19937_64 random(seed);
    LooseTree<TypeParam> tree = random_tree<TypeParam>(random, seed % 30 == 0 ? 2000 : 150);
    const std::uint64_t kind = seed % kKinds;
    damage(tree, random, kind);
    const std::string violation = cpu::first_violation(tree.view(), 1);
    ASSERT_EQ(is_contract_tree(tree), violation.empty())
        << "seed " << seed << ", damage " << kind << ": " << violation << "; " << tree.shape.geometry.points << " x "
        << tree.shape.dims << ", leaves of " << tree.shape.leaf_size;
    ++(violation.empty() ? accepted : refused)[kind];
  }
  for (std::uint64_t kind = 0; kind < kKinds; ++kind) EXPECT_GT(refused[kind], 0) << "damage " << kind;
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
    EXPECT_FALSE(cpu::first_violation(wrong.view(), 1).empty()) << "level " << level;
    EXPECT_FALSE(is_contract_tree(wrong)) << "level " << level;
  }
}

}  // namespace
}  // namespace kith::test
