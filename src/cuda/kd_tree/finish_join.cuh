// Joins the boxes and smallest indices of children, from the leaves of a subtree up to the root of the tree.
#pragma once

#include "cuda/kd_tree/finish_leaves.cuh"

namespace kith::cuda {

/// Joins inside a subtree. `kShared`: what NodeRoom says; then all of it is also written to the tree.
template <bool kShared, typename T, bool kStaged>
__device__ __forceinline__ void join_nodes(const Subtree<T, kStaged>& subtree) {
  const NodeRoom<T, kStaged> room(subtree);
  const std::uint32_t dims = subtree.dims, values = 2 * dims;
  const auto box = [&](std::uint32_t depth, std::uint32_t j) {
    if constexpr (kShared) {
      return room.shared_box(depth, j);
    } else {
      return subtree.tree_box(depth, j);
    }
  };
  const auto smallest = [&](std::uint32_t depth, std::uint32_t j) {
    if constexpr (kShared) {
      return room.shared_smallest(depth, j);
    } else {
      return room.tree_smallest(depth, j);
    }
  };
  // Values of boxes are dealt out to the threads one by one; the steps spare a division for each.
  const std::uint32_t first_node = thread_number() / values, first_value = thread_number() % values;
  const std::uint32_t node_step = threads_per_block() / values, value_step = threads_per_block() % values;
  if constexpr (kShared) {  // the leaves are next to each other in both places
    T* boxes = subtree.tree_box(subtree.levels, 0);
    const T* found = room.shared_box(subtree.levels, 0);
    const std::uint32_t leaves = 1u << subtree.levels;
#pragma unroll 1
    for (std::uint32_t i = thread_number(); i < leaves * values; i += threads_per_block()) boxes[i] = found[i];
    if (thread_number() < leaves) {
      *room.tree_smallest(subtree.levels, thread_number()) = *room.shared_smallest(subtree.levels, thread_number());
    }
    sync_block();
  }
#pragma unroll 1
  for (std::uint32_t depth = subtree.levels; depth-- > 0;) {
    T* boxes = subtree.tree_box(depth, 0);
#pragma unroll 1
    for (std::uint32_t j = first_node, c = first_value; j < 1u << depth;) {
      const T left = box(depth + 1, 2 * j)[c], right = box(depth + 1, 2 * j + 1)[c];
      const T value = (right < left) == (c < dims) ? right : left;
      if constexpr (kShared) box(depth, j)[c] = value;
      boxes[j * values + c] = value;
      j += node_step;
      c += value_step;
      if (c >= values) {
        c -= values;
        ++j;
      }
    }
#pragma unroll 1
    for (std::uint32_t j = thread_number(); j < 1u << depth; j += threads_per_block()) {
      const std::uint32_t left = *smallest(depth + 1, 2 * j), right = *smallest(depth + 1, 2 * j + 1);
      const std::uint32_t least = right < left ? right : left;
      if constexpr (kShared) *smallest(depth, j) = least;
      *room.tree_smallest(depth, j) = least;
    }
    sync_block();
  }
}

/// All threads of the block, which have met since the leaves were written.
template <typename T, bool kStaged>
__device__ __forceinline__ void join_subtree(const Subtree<T, kStaged>& subtree) {
  if constexpr (kStaged) {
    if (NodeRoom<T, kStaged>(subtree).is_shared) return join_nodes<true>(subtree);
  }
  join_nodes<false>(subtree);
}

/// Reads what another block wrote.
template <typename T>
__device__ __forceinline__ T load_fresh_value(const T* from) {
  return std::bit_cast<T>(load_fresh(reinterpret_cast<const OrderedKey<T>*>(from)));
}

/// Goes on above the subtree, as far as it is the last to arrive. One warp; the block has met.
template <typename T>
__device__ __forceinline__ void join_above(const FinishParameters<T>& given) {
  const std::uint32_t values = 2 * given.shape.dims;
  std::uint64_t j = block_number();
  for (std::uint32_t level = given.top_level; level > 0; --level, j /= 2) {
    const std::uint64_t parent = core::KdGeometry::node(level - 1, j / 2), left = 2 * parent + 1;
    std::uint32_t arrived = 0;
    if (lane_number() == 0) {
      fence_device();
      arrived = atomic_add(given.arrivals + parent, 1u);
      fence_device();
    }
    if (shuffle(arrived, 0) == 0) return;
    sync_warp();  // what the first lane may see, all may see
    const T* children = given.tree.boxes + left * values;
    for (std::uint32_t c = lane_number(); c < values; c += kWarp) {
      const T a = load_fresh_value(children + c), b = load_fresh_value(children + values + c);
      given.tree.boxes[parent * values + c] = (b < a) == (c < given.shape.dims) ? b : a;
    }
    if (lane_number() == 0) {
      const std::uint32_t a = load_fresh(given.tree.smallest + left), b = load_fresh(given.tree.smallest + left + 1);
      given.tree.smallest[parent] = b < a ? b : a;
    }
    sync_warp();
  }
}

}  // namespace kith::cuda
