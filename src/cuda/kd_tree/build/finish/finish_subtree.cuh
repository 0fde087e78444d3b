// A subtree in the hands of the block that finishes it: its points, its shared memory, its nodes.
//
// Coordinates and indices stay where they were loaded, in "slots"; what moves is `order`: the slot at each place.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/build/finish/finish.hpp"

#include <cstdint>

namespace kith::cuda {

/// A node of a subtree. Places count from the first point of the subtree.
struct FinishNode {
  std::uint32_t depth = 0;   ///< levels below the root of the subtree
  std::uint32_t number = 0;  ///< among the nodes of its depth
  std::uint32_t begin = 0;
  std::uint32_t middle = 0;  ///< where the right half begins
  std::uint32_t end = 0;
};

/// What the warps of a team share while they split a node.
struct TeamCells {
  std::uint32_t moved = 0;       ///< points so far: those to the left half, and those to the right half << 16
  std::uint32_t candidates = 0;  ///< put down so far
};

/// The logarithm of how many threads own a node of `depth`. They, and the nodes of a depth, are powers of two.
__device__ __forceinline__ std::uint32_t thread_bits_at(std::uint32_t depth) {
  return 31 - leading_zeros(threads_per_block()) - depth;
}

template <typename T, bool kStaged>
struct Subtree {
  using Key = OrderedKey<T>;

  const FinishParameters<T>& given;
  std::uint32_t dims;
  std::uint32_t levels;  ///< below the root of the subtree
  std::uint64_t number;  ///< among the subtrees
  std::uint64_t base;    ///< the place of its first point in the tree
  std::uint32_t rest;    ///< what the division in the closed form of `base` leaves
  std::uint32_t count;

  T* values;
  std::uint32_t* counters;
  T* boxes;
  Key* candidate_keys;
  Key* lows;
  Key* highs;
  std::uint32_t* indices;
  TeamCells* cells;
  std::uint16_t* order;
  std::uint16_t* candidate_slots;
  bool is_coded = false;  ///< codes stand for coordinates

  __device__ __forceinline__ explicit Subtree(const FinishParameters<T>& parameters)
      : given(parameters),
        dims(parameters.shape.dims),
        levels(parameters.shape.geometry.levels - parameters.top_level),
        number(block_number()),
        base(parameters.shape.geometry.first(parameters.top_level, number)),
        rest(static_cast<std::uint32_t>(number * parameters.shape.geometry.points - (base << parameters.top_level))),
        count(static_cast<std::uint32_t>(parameters.shape.geometry.first(parameters.top_level, number + 1) - base)) {
    const FinishLayout<T> layout(parameters.capacity, threads_per_block(), dims, kStaged);
    std::byte* storage = shared_memory();
    values = reinterpret_cast<T*>(storage + layout.values);
    counters = reinterpret_cast<std::uint32_t*>(storage + layout.counters);
    boxes = reinterpret_cast<T*>(storage + layout.boxes);
    candidate_keys = reinterpret_cast<Key*>(storage + layout.candidate_keys);
    lows = reinterpret_cast<Key*>(storage + layout.lows);
    highs = reinterpret_cast<Key*>(storage + layout.highs);
    indices = reinterpret_cast<std::uint32_t*>(storage + layout.indices);
    cells = reinterpret_cast<TeamCells*>(storage + layout.cells);
    order = reinterpret_cast<std::uint16_t*>(storage + layout.order);
    candidate_slots = reinterpret_cast<std::uint16_t*>(storage + layout.candidate_slots);
  }

  __device__ __forceinline__ T value(std::uint32_t slot, std::uint32_t d) const {
    if constexpr (kStaged) {
      return (values + d * given.capacity)[slot];  // one address for a column: its points add one operation each
    } else {
      return given.source.at(base + slot, d);
    }
  }

  __device__ __forceinline__ static SubtreeCodes<T>& codes() {
    return *reinterpret_cast<SubtreeCodes<T>*>(shared_memory() + FinishLayout<T>::codes);
  }
  /// The bits of a rank among the values of a dimension that has so many used parts.
  __device__ __forceinline__ static std::uint32_t rank_bits(std::uint32_t used) {
    return 32 - leading_zeros(count_bits(used) - 1);
  }
  /// The coordinate for which a code stands.
  __device__ __forceinline__ static T decoded(T code, std::uint32_t d) {
    return std::bit_cast<T>(codes().values[d][to_unsigned(code) >> (kCodeBits - rank_bits(codes().used[d]))]);
  }
  /// The coordinate for which what `value` returns stands; of a code never -0.
  __device__ __forceinline__ T coordinate(T value_or_code, std::uint32_t d) const {
    return is_coded ? decoded(value_or_code, d) + T(0) : value_or_code;
  }

  /// The last component of the super-key: the index. Never 0, never the largest.
  __device__ __forceinline__ Key index_key(std::uint32_t slot) const { return static_cast<Key>(indices[slot]) + 1; }
  /// Component `component` of the super-key of dimension d: a coordinate, or after all of them the index. Never 0,
  /// never the largest.
  __device__ __forceinline__ Key component_key(std::uint32_t slot, std::uint32_t d, std::uint32_t component) const {
    if (component == dims) return index_key(slot);
    const std::uint32_t axis = d + component;
    return ordered_key(value(slot, axis >= dims ? axis - dims : axis));
  }

  /// True if slot a comes before slot b by the super-key of dimension d from `component` on.
  __device__ __forceinline__ bool precedes(std::uint32_t a, std::uint32_t b, std::uint32_t d,
                                           std::uint32_t component) const {
    for (; component < dims; ++component) {
      const Key left = component_key(a, d, component), right = component_key(b, d, component);
      if (left != right) return left < right;
    }
    return indices[a] < indices[b];
  }

  /// The place at which node `j` of `depth` begins: KdGeometry::first less `base`, with fewer long operations.
  __device__ __forceinline__ std::uint32_t first_place(std::uint32_t depth, std::uint32_t j) const {
    const auto points = static_cast<std::uint32_t>(given.shape.geometry.points);
    return static_cast<std::uint32_t>(((std::uint64_t{rest} << depth) + std::uint64_t{j} * points) >>
                                      (given.top_level + depth));
  }
  __device__ __forceinline__ FinishNode node(std::uint32_t depth, std::uint32_t j) const {
    const auto points = static_cast<std::uint32_t>(given.shape.geometry.points);
    // The three share it: see first_place.
    const std::uint64_t first = (std::uint64_t{rest} << depth) + std::uint64_t{j} * points;
    const std::uint32_t shift = given.top_level + depth;
    return {depth, j, static_cast<std::uint32_t>(first >> shift),
            static_cast<std::uint32_t>((2 * first + points) >> (shift + 1)),
            static_cast<std::uint32_t>((first + points) >> shift)};
  }
  /// The number of a node in the arrays of the tree.
  __device__ __forceinline__ std::uint64_t tree_node(std::uint32_t depth, std::uint32_t j) const {
    return core::KdGeometry::node(given.top_level + depth, (number << depth) + j);
  }
  __device__ __forceinline__ bool is_tight(std::uint32_t depth) const {
    return (given.top_level + depth) % core::kTightBoxEvery == 0;
  }

  /// Room for a node's box in the tree. Until the splits are done it holds cut boxes where shared memory does not.
  __device__ __forceinline__ T* tree_box(std::uint32_t depth, std::uint32_t j) const {
    return given.tree.boxes + tree_node(depth, j) * 2 * dims;
  }
  /// The box by which a node with at least two threads splits.
  __device__ __forceinline__ T* team_box(std::uint32_t depth, std::uint32_t j) const {
    if constexpr (kStaged) {
      return boxes + (j << thread_bits_at(depth)) * dims;  // two threads have room for a box
    } else {
      return tree_box(depth, j);
    }
  }

  __device__ __forceinline__ void write_split(const FinishNode& node, std::uint32_t d, T split_value) const {
    const std::uint64_t place = tree_node(node.depth, node.number);
    given.tree.split_dims[place] = static_cast<std::uint16_t>(d);
    given.tree.split_values[place] = split_value;
  }
};

}  // namespace kith::cuda
