// Splits the nodes of one level that a thread owns alone: only leaves that are smaller than what a thread holds come to
// this.
#pragma once

#include "cuda/kd_tree/build/finish/finish_box.cuh"

namespace kith::cuda {

/// Finds and keeps the tight box.
template <typename T, bool kStaged>
__device__ __forceinline__ void tighten_alone(const Subtree<T, kStaged>& subtree, const FinishNode& node, T* box) {
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    KeyRange<T> range;
#pragma unroll 1
    for (std::uint32_t place = node.begin; place < node.end; ++place) {
      range.add(ordered_key(subtree.value(subtree.order[place], d)));
    }
    box[d] = subtree.coordinate(value_of_key<T>(range.low), d);
    box[subtree.dims + d] = subtree.coordinate(value_of_key<T>(range.high), d);
  }
}

/// A thread's nodes are the descendants of its own node of the level at which there are as many nodes as threads.
template <typename T, bool kStaged>
__device__ __forceinline__ void split_alone(const Subtree<T, kStaged>& subtree, std::uint32_t depth) {
  const std::uint32_t nodes = 1u << (depth - thread_bits_at(0));
  for (std::uint32_t i = 0; i < nodes; ++i) {
    const FinishNode node = subtree.node(depth, thread_number() * nodes + i);
    T* box = subtree.tree_box(depth, node.number);
    if (subtree.is_tight(depth)) tighten_alone(subtree, node, box);
    const SplitSide<T> side = side_of_box(subtree, depth, static_cast<const T*>(box));
    for (std::uint32_t sorted = node.begin + 1; sorted < node.end; ++sorted) {
      const std::uint16_t slot = subtree.order[sorted];
      std::uint32_t place = sorted;
      for (; place > node.begin && subtree.precedes(slot, subtree.order[place - 1], side.dim, 0); --place) {
        subtree.order[place] = subtree.order[place - 1];
      }
      subtree.order[place] = slot;
    }
    const bool has_right = node.middle != node.end;
    const T split_value = has_right
                              ? subtree.coordinate(subtree.value(subtree.order[node.middle], side.dim), side.dim) + T(0)
                              : side.upper;
    subtree.write_split(node, side.dim, split_value);
    hand_down_box(subtree, node, side, split_value, static_cast<const T*>(box), 0, 1);
  }
}

}  // namespace kith::cuda
