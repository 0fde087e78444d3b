// Joins the boxes and smallest indices of children, from the leaves of a subtree up to the root of the tree.
#pragma once

#include "cuda/kd_tree/build/finish/finish_leaves.cuh"

namespace kith::cuda {

/// The threads that join the nodes below one node of depth `top`: a warp or the block.
struct JoinCrew {
  std::uint32_t top = 0;
  std::uint32_t number = 0;  ///< of that node, among those of its depth
  std::uint32_t rank = 0;
  std::uint32_t threads = 0;

  __device__ __forceinline__ static JoinCrew warp(std::uint32_t top, std::uint32_t number) {
    return {top, number, lane_number(), kWarp};
  }
  __device__ __forceinline__ static JoinCrew block() { return {0, 0, thread_number(), threads_per_block()}; }
  __device__ __forceinline__ void sync() const {
    if (threads == kWarp) {
      sync_warp();
    } else {
      sync_block();
    }
  }
  __device__ __forceinline__ std::uint32_t first(std::uint32_t depth) const { return number << (depth - top); }
  __device__ __forceinline__ std::uint32_t count(std::uint32_t depth) const { return 1u << (depth - top); }
};

/// Writes what is known of the leaves to the tree. The crew has synchronised since it was found, and must synchronise
/// before it joins.
template <typename T, bool kStaged>
__device__ __forceinline__ void write_leaf_boxes(const Subtree<T, kStaged>& subtree, const JoinCrew& crew) {
  const NodeStorage<T, kStaged> storage(subtree);
  const std::uint32_t depth = subtree.levels, first = crew.first(depth), leaves = crew.count(depth);
  T* boxes = subtree.tree_box(depth, first);  // next to each other in both places
  const T* found = storage.shared_box(depth, first);
#pragma unroll 1
  for (std::uint32_t i = crew.rank; i < leaves * 2 * subtree.dims; i += crew.threads) boxes[i] = found[i];
#pragma unroll 1
  for (std::uint32_t j = crew.rank; j < leaves; j += crew.threads) {
    *storage.tree_smallest(depth, first + j) = *storage.shared_smallest(depth, first + j);
  }
}

/// Joins the nodes of the crew, from those above depth `bottom` up to its own. `kShared`: what NodeRoom says; then all
/// of it is also written to the tree. The crew is synchronised before, and after each depth.
template <bool kShared, typename T, bool kStaged>
__device__ __forceinline__ void join_nodes(const Subtree<T, kStaged>& subtree, const JoinCrew& crew,
                                           std::uint32_t bottom) {
  const NodeStorage<T, kStaged> storage(subtree);
  const std::uint32_t dims = subtree.dims, values = 2 * dims;
  const auto box = [&](std::uint32_t depth, std::uint32_t j) {
    if constexpr (kShared) {
      return storage.shared_box(depth, j);
    } else {
      return subtree.tree_box(depth, j);
    }
  };
  const auto smallest = [&](std::uint32_t depth, std::uint32_t j) {
    if constexpr (kShared) {
      return storage.shared_smallest(depth, j);
    } else {
      return storage.tree_smallest(depth, j);
    }
  };
  // Values of boxes are dealt out to the threads one by one; the steps spare a division for each.
  const std::uint32_t first_node = crew.rank / values, first_value = crew.rank % values;
  const std::uint32_t node_step = crew.threads / values, value_step = crew.threads % values;
#pragma unroll 1
  for (std::uint32_t depth = bottom; depth-- > crew.top;) {
    const std::uint32_t begin = crew.first(depth), end = begin + crew.count(depth);
    T* boxes = subtree.tree_box(depth, 0);
#pragma unroll 1
    for (std::uint32_t j = begin + first_node, c = first_value; j < end;) {
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
    for (std::uint32_t j = begin + crew.rank; j < end; j += crew.threads) {
      const std::uint32_t left = *smallest(depth + 1, 2 * j), right = *smallest(depth + 1, 2 * j + 1);
      const std::uint32_t least = right < left ? right : left;
      if constexpr (kShared) *smallest(depth, j) = least;
      *storage.tree_smallest(depth, j) = least;
    }
    crew.sync();
  }
}

/// Each warp joins what it has written; then the first one joins the rest, as it lies in the tree.
template <bool kShared, typename T, bool kStaged>
__device__ __forceinline__ void join_by_warps(const Subtree<T, kStaged>& subtree) {
  const std::uint32_t each = thread_bits_at(0) - (31 - leading_zeros(kWarp));  // depth that has a node for each warp
  JoinCrew crew = JoinCrew::warp(each, warp_number());
  std::uint32_t bottom = subtree.levels;
  sync_warp();
#pragma unroll 1
  for (;;) {
    if (crew.top <= bottom) {
      if (bottom == subtree.levels) {
        if constexpr (kShared) {
          write_leaf_boxes(subtree, crew);
          sync_warp();
        }
        join_nodes<kShared>(subtree, crew, bottom);
      } else {
        join_nodes<false>(subtree, crew, bottom);
      }
      bottom = crew.top;
    }
    if (crew.top == 0) return;
    sync_after_teams();
    if (warp_number() > 0) return;
    crew = JoinCrew::warp(0, 0);
  }
}

/// All threads of the block. What is known of the root is written by the first warp, or before the block is
/// synchronised.
template <typename T, bool kStaged>
__device__ __forceinline__ void join_subtree(const Subtree<T, kStaged>& subtree) {
  if constexpr (!kStaged) {  // boxes may have very many values
    sync_block();
    join_nodes<false>(subtree, JoinCrew::block(), subtree.levels);
  } else if (NodeStorage<T, kStaged>(subtree).is_shared) {
    join_by_warps<true>(subtree);
  } else {
    join_by_warps<false>(subtree);
  }
}

/// Reads what another block wrote.
template <typename T>
__device__ __forceinline__ T load_fresh_value(const T* from) {
  return std::bit_cast<T>(load_fresh(reinterpret_cast<const OrderedKey<T>*>(from)));
}

/// Goes on above the subtree, as far as it is the last to arrive. One warp; the block is synchronised.
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
