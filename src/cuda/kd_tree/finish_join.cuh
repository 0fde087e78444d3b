// Joins the boxes and smallest indices of children, from the leaves of a subtree up to the root of the tree.
#pragma once

#include "cuda/kd_tree/finish_leaves.cuh"

namespace kith::cuda {

/// Joins inside a subtree and writes what was in shared memory.
template <typename T, bool kStaged>
__device__ __forceinline__ void join_subtree(const Subtree<T, kStaged>& subtree) {
  const NodeRoom<T, kStaged> room(subtree);
  const std::uint32_t dims = subtree.dims, values = 2 * dims;
  // Values of boxes are dealt out to the threads one by one; the steps spare a division for each.
  const std::uint32_t first_node = thread_number() / values, first_value = thread_number() % values;
  const std::uint32_t node_step = threads_per_block() / values, value_step = threads_per_block() % values;
  for (std::uint32_t depth = subtree.levels + 1; depth-- > 0;) {
    const bool is_leaf = depth == subtree.levels;
    if (is_leaf && !room.is_shared) continue;
    T* boxes = subtree.tree_box(depth, 0);
    std::uint32_t* smallest = subtree.given.tree.smallest + subtree.tree_node(depth, 0);
    for (std::uint32_t j = first_node, c = first_value; j < 1u << depth;) {
      T value;
      if (is_leaf) {
        value = room.box(depth, j)[c];
      } else {
        const T left = room.box(depth + 1, 2 * j)[c], right = room.box(depth + 1, 2 * j + 1)[c];
        value = (right < left) == (c < dims) ? right : left;
      }
      if (room.is_shared) room.box(depth, j)[c] = value;
      boxes[j * values + c] = value;
      j += node_step;
      c += value_step;
      if (c >= values) {
        c -= values;
        ++j;
      }
    }
    for (std::uint32_t j = thread_number(); j < 1u << depth; j += threads_per_block()) {
      std::uint32_t least = *room.smallest(is_leaf ? depth : depth + 1, is_leaf ? j : 2 * j);
      if (!is_leaf) {
        const std::uint32_t right = *room.smallest(depth + 1, 2 * j + 1);
        least = right < least ? right : least;
      }
      if (room.is_shared) *room.smallest(depth, j) = least;
      smallest[j] = least;
    }
    sync_block();
  }
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
