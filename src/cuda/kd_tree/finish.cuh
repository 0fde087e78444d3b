// The kernel that finishes the subtrees: loads a subtree, splits it level by level down to the leaves, writes it.
//
// Per point: coordinates and index are read once and written once; a level costs one read of a coordinate, one counter
// and one move of two bytes in shared memory. A node belongs to as many threads as it has eights of points: whole warps
// count (finish_wide.cuh), parts of a warp sort (finish_narrow.cuh), single threads insert (finish_serial.cuh).
#pragma once

#include "cuda/kd_tree/finish_join.cuh"
#include "cuda/kd_tree/finish_narrow.cuh"
#include "cuda/kd_tree/finish_serial.cuh"
#include "cuda/kd_tree/finish_wide.cuh"

namespace kith::cuda {

/// True if the block has to stop: an earlier step or another block found bad points, or this one does. Loads the
/// points.
template <typename T, bool kStaged>
__device__ __forceinline__ bool load_subtree(const Subtree<T, kStaged>& subtree) {
  const FinishParameters<T>& given = subtree.given;
  const std::uint32_t thread = thread_number(), threads = threads_per_block();
  std::uint32_t* was_refused = subtree.totals;
  std::uint32_t* has_bad = subtree.totals + 1;
  if (thread == 0) {
    *was_refused = load_fresh(given.refused);
    *has_bad = 0;
  }
  sync_block();
  if (*was_refused != 0) return true;
  bool is_bad = false;
  if (kStaged || given.looks_for_bad) {
    for (std::uint32_t d = 0; d < subtree.dims; ++d) {
      for (std::uint32_t i = thread; i < subtree.count; i += threads) {
        const T value = given.source.at(subtree.base + i, d);
        if constexpr (kStaged) subtree.values[d * given.capacity + i] = value;
        is_bad = is_bad || !(value - value == T(0));
      }
    }
  }
  for (std::uint32_t i = thread; i < subtree.count; i += threads) {
    subtree.indices[i] = given.source.index(subtree.base + i);
    subtree.order[i] = static_cast<std::uint16_t>(i);
  }
  for (std::uint32_t i = thread; i < 4 * threads; i += threads) subtree.counters[i] = 0;
  if (subtree.levels > 0 && !subtree.is_tight(0)) {
    const T* box = given.cut_boxes + subtree.number * 2 * subtree.dims;
    for (std::uint32_t i = thread; i < 2 * subtree.dims; i += threads) subtree.team_box(0, 0)[i] = box[i];
  }
  if (given.looks_for_bad && is_bad) {
    atomic_or(given.refused, 1u);
    atomic_or(has_bad, 1u);
  }
  sync_block();
  const bool stops = *has_bad != 0;
  sync_block();  // the word has other uses from here on
  return stops;
}

/// All levels; no thread looks after more than kRows points.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void split_levels(const Subtree<T, kStaged>& subtree) {
  FinishNode node = subtree.node(0, 0);
  const auto goes_on_with = [&](std::uint32_t least_threads) {
    return node.depth < subtree.levels && threads_per_block() >> node.depth >= least_threads;
  };
  const auto go_down = [&] {
    node = subtree.child(node, (thread_number() & (threads_per_block() >> node.depth) / 2) != 0);
  };
  for (; goes_on_with(kWarp); go_down()) split_with_team<kRows>(subtree, node);
  for (; goes_on_with(2); go_down()) split_with_lanes<kRows>(subtree, node);
  for (std::uint32_t depth = node.depth; depth < subtree.levels; ++depth) split_alone(subtree, depth);
}

/// One block of capacity / 8 threads for each subtree, with finish_shared_bytes of shared memory.
template <typename T, bool kStaged>
__global__ void __launch_bounds__(512, 2) finish_subtrees(FinishParameters<T> given) {
  const Subtree<T, kStaged> subtree(given);
  if (load_subtree(subtree)) return;
  // A block is full only if the points are a power of two: the rows that no thread has are left out.
  const std::uint64_t most = core::KdGeometry{given.shape.geometry.points, given.top_level}.most_per_leaf();
  if (most > 7 * threads_per_block()) {
    split_levels<8>(subtree);
  } else if (most > 6 * threads_per_block()) {
    split_levels<7>(subtree);
  } else if (most > 5 * threads_per_block()) {
    split_levels<6>(subtree);
  } else {
    split_levels<5>(subtree);
  }
  sync_block();
  write_leaves(subtree);
  sync_block();
  join_subtree(subtree);
  if (warp_number() == 0) join_above(given);
}

}  // namespace kith::cuda
