// Trees that tests may damage: writable arrays, and every kind of harm that a check must notice.
#pragma once

#include "cpu/kd_tree/build.hpp"
#include "cuda/kd_tree/build/build_types.hpp"
#include "support/random_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {

/// A tree whose arrays may be written to.
template <typename T>
struct LooseTree {
  engine::KdTree<T> shape;
  std::vector<std::byte> blocks;
  std::vector<std::uint16_t> split_dims;
  std::vector<T> split_values;
  std::vector<T> boxes;
  std::vector<std::uint32_t> smallest;

  explicit LooseTree(const engine::KdTree<T>& tree)
      : shape(tree),
        blocks(tree.blocks.begin(), tree.blocks.end()),
        split_dims(tree.split_dims.begin(), tree.split_dims.end()),
        split_values(tree.split_values.begin(), tree.split_values.end()),
        boxes(tree.boxes.begin(), tree.boxes.end()),
        smallest(tree.smallest.begin(), tree.smallest.end()) {}

  engine::KdTree<T> view() const {
    engine::KdTree<T> tree = shape;
    tree.blocks = blocks;
    tree.split_dims = split_dims;
    tree.split_values = split_values;
    tree.boxes = boxes;
    tree.smallest = smallest;
    return tree;
  }

  T* block(std::uint64_t leaf) { return const_cast<T*>(view().block(leaf)); }
  std::uint32_t* numbers(std::uint64_t leaf) { return const_cast<std::uint32_t*>(view().block_indices(leaf)); }

  cuda::TreeShape device_shape() const { return {shape.geometry, shape.dims, shape.point_bytes, shape.cycles}; }

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
      smallest[node] = count == 0 ? engine::kNoPoint : numbers(leaf)[0];
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

/// A right tree of up to `most_rows` points.
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

/// What harm i does, for each i below kKindsOfHarm.
inline constexpr std::uint64_t kKindsOfHarm = 20;
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
    default:  // the most ways to go wrong, so the most kinds
      return swap_points(tree, random);
  }
}

}  // namespace kith::test
