// The kernels that check what lies in a tree: leaves (a warp each) and inner nodes (a thread each). check_sides.cuh
// looks at ties, check_tree.hpp tells what is proven and what it costs.
//
// The steps do not wait for each other: one that reads what another would refuse may come to any answer, but never to
// an address outside the arrays. A tree is right if no step refuses it.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/build/build_types.hpp"

#include <limits>

namespace kith::cuda {

inline constexpr std::uint32_t kCheckThreads = 256;

/// What all steps know. Both words and the bitmap begin as zeros.
template <typename T>
struct TreeCheck {
  TreeArrays<T> tree;
  TreeShape shape;
  std::uint32_t* refused = nullptr;   ///< not 0: something is wrong
  std::uint32_t* has_ties = nullptr;  ///< not 0: points of both halves of some node lie on its split
  std::uint32_t* seen = nullptr;      ///< a bit per point: its number was met

  __device__ const T* lower(std::uint64_t node) const { return tree.boxes + node * 2 * shape.dims; }
  __device__ const T* upper(std::uint64_t node) const { return lower(node) + shape.dims; }
};

/// A leaf where it lies.
template <typename T>
struct LeafBlock {
  const T* values;               ///< [dimension][point]
  const std::uint32_t* numbers;  ///< [point]
  std::uint32_t count;

  __device__ LeafBlock(const TreeCheck<T>& check, std::uint64_t leaf) {
    const core::KdGeometry& geometry = check.shape.geometry;
    const std::uint64_t first = geometry.first(geometry.levels, leaf);
    count = static_cast<std::uint32_t>(geometry.first(geometry.levels, leaf + 1) - first);
    values = reinterpret_cast<const T*>(check.tree.blocks + first * check.shape.point_bytes);
    numbers = reinterpret_cast<const std::uint32_t*>(values + std::uint64_t{check.shape.dims} * count);
  }

  __device__ const T* column(std::uint32_t d) const { return values + std::uint64_t{d} * count; }
};

/// Equal in every bit, with -0 nowhere: what the builder derives never has it.
template <typename T>
__device__ bool is_exactly(T stored, T expected) {
  return std::bit_cast<OrderedKey<T>>(stored) == std::bit_cast<OrderedKey<T>>(expected + T(0));
}

/// This warp, of all in the grid.
__device__ inline std::uint64_t warp_in_grid() {
  return (std::uint64_t{block_number()} * threads_per_block() + thread_number()) / kWarp;
}
__device__ inline std::uint64_t warps_in_grid() {
  return std::uint64_t{blocks_in_grid()} * threads_per_block() / kWarp;
}

// --- leaves ---

/// Out of range, not ascending, met before, or zeros missing behind them: what this lane sees of it.
template <typename T>
__device__ bool sees_wrong_number(const TreeCheck<T>& check, const LeafBlock<T>& block) {
  bool is_wrong = false;
  for (std::uint32_t i = lane_number(); i < block.count; i += kWarp) {
    const std::uint32_t number = block.numbers[i];
    if (number >= check.shape.geometry.points) {
      is_wrong = true;
      continue;
    }
    const std::uint32_t bit = 1u << (number % 32);
    is_wrong |= i > 0 && number <= block.numbers[i - 1];
    is_wrong |= (atomic_or(check.seen + number / 32, bit) & bit) != 0;
  }
  const std::uint32_t used = check.shape.dims * static_cast<std::uint32_t>(sizeof(T)) + 4;
  const std::uint32_t padding = block.count * ((check.shape.point_bytes - used) / 4);  // words
  for (std::uint32_t i = lane_number(); i < padding; i += kWarp) is_wrong |= block.numbers[block.count + i] != 0;
  return is_wrong;
}

/// A coordinate that is not finite, or a box that is not the tight one.
template <typename T>
__device__ bool sees_wrong_box(const TreeCheck<T>& check, const LeafBlock<T>& block, std::uint64_t node) {
  bool is_wrong = false;
  for (std::uint32_t d = 0; d < check.shape.dims; ++d) {
    OrderedKey<T> low = ordered_key(std::numeric_limits<T>::infinity()), high = ~low;
    for (std::uint32_t i = lane_number(); i < block.count; i += kWarp) {
      const T value = block.column(d)[i];
      is_wrong |= !(value - value == T(0));
      const OrderedKey<T> key = ordered_key(value);
      low = key < low ? key : low;
      high = key > high ? key : high;
    }
    low = min_of_warp(low);
    high = max_of_warp(high);
    is_wrong |= !is_exactly(check.lower(node)[d], value_of_key<T>(low)) ||
                !is_exactly(check.upper(node)[d], value_of_key<T>(high));
  }
  return is_wrong;
}

template <typename T>
__global__ void __launch_bounds__(kCheckThreads) check_leaves(TreeCheck<T> check) {
  const core::KdGeometry& geometry = check.shape.geometry;
  for (std::uint64_t leaf = warp_in_grid(); leaf < geometry.leaves(); leaf += warps_in_grid()) {
    const LeafBlock<T> block(check, leaf);
    const std::uint64_t node = core::KdGeometry::node(geometry.levels, leaf);
    bool is_wrong = check.tree.smallest[node] != (block.count == 0 ? 0xffffffffu : block.numbers[0]);
    is_wrong |= sees_wrong_number(check, block);
    is_wrong |= sees_wrong_box(check, block, node);
    if (any_lane(is_wrong) && lane_number() == 0) atomic_or(check.refused, 1u);
  }
}

// --- inner nodes ---

template <typename T>
__device__ bool is_join_of_children(const TreeCheck<T>& check, std::uint64_t node) {
  const std::uint64_t left = 2 * node + 1, right = left + 1;
  for (std::uint32_t d = 0; d < check.shape.dims; ++d) {
    const T low_left = check.lower(left)[d], low_right = check.lower(right)[d];
    const T high_left = check.upper(left)[d], high_right = check.upper(right)[d];
    if (!is_exactly(check.lower(node)[d], low_left < low_right ? low_left : low_right) ||
        !is_exactly(check.upper(node)[d], high_left > high_right ? high_left : high_right)) {
      return false;
    }
  }
  const std::uint32_t from_left = check.tree.smallest[left], from_right = check.tree.smallest[right];
  return check.tree.smallest[node] == (from_left < from_right ? from_left : from_right);
}

/// A side of the box that decides a node's split: where the nearest split above cut it, up to the ancestor (or itself)
/// at level 0, 6, 12, …, whose box is the tight one.
template <typename T>
__device__ T cut_side(const TreeCheck<T>& check, std::uint64_t node, std::uint32_t level, std::uint32_t d,
                      bool is_upper) {
  for (; level % core::kTightBoxEvery != 0; --level) {
    const std::uint64_t parent = (node - 1) / 2;
    const bool is_left = node == 2 * parent + 1;
    if (is_left == is_upper && check.tree.split_dims[parent] == d) return check.tree.split_values[parent];
    node = parent;
  }
  return is_upper ? check.upper(node)[d] : check.lower(node)[d];
}

/// Ties go to the lowest dimension.
template <typename T>
__device__ std::uint32_t widest_side(const TreeCheck<T>& check, std::uint64_t node, std::uint32_t level) {
  std::uint32_t widest = 0;
  T extent = 0;
  for (std::uint32_t d = 0; d < check.shape.dims; ++d) {
    const T side = cut_side(check, node, level, d, true) - cut_side(check, node, level, d, false);
    if (d == 0 || side > extent) {
      extent = side;
      widest = d;
    }
  }
  return widest;
}

/// Everything that the boxes say of a split: with tight boxes, that the right half begins at the split value and the
/// left half does not go beyond it. If both reach it, that is a tie, for check_sides.cuh to look at.
template <typename T>
__device__ bool is_right_split(const TreeCheck<T>& check, std::uint64_t node, std::uint32_t level) {
  const core::KdGeometry& geometry = check.shape.geometry;
  const std::uint32_t d = check.tree.split_dims[node];
  if (d != (check.shape.cycles ? level % check.shape.dims : widest_side(check, node, level))) return false;
  const T value = check.tree.split_values[node];
  const std::uint64_t left = 2 * node + 1, right = left + 1;
  const std::uint64_t j = right - core::KdGeometry::node(level + 1, 0);
  if (geometry.first(level + 1, j) == geometry.first(level + 1, j + 1)) {  // nothing on the right
    return is_exactly(value, cut_side(check, node, level, d, true));
  }
  if (check.upper(left)[d] == value) *check.has_ties = 1;
  return is_exactly(value, check.lower(right)[d]) && !(check.upper(left)[d] > value);
}

template <typename T>
__global__ void __launch_bounds__(kCheckThreads) check_nodes(TreeCheck<T> check) {
  const std::uint64_t inner = check.shape.geometry.leaves() - 1;
  const std::uint64_t stride = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t node = std::uint64_t{block_number()} * threads_per_block() + thread_number(); node < inner;
       node += stride) {
    const std::uint32_t level = 63 - leading_zeros(node + 1);
    if (!is_join_of_children(check, node) || !is_right_split(check, node, level)) atomic_or(check.refused, 1u);
  }
}

}  // namespace kith::cuda
