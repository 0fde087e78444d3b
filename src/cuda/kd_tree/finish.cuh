// The kernel that finishes the subtrees: loads a subtree, splits it level by level down to the leaves, writes it.
//
// Per point: coordinates and index are read once and written once; a level costs one read of a coordinate, one counter
// and one move of two bytes in shared memory. A node belongs to as many threads as hold its points: whole warps
// count (finish_wide.cuh), parts of a warp sort (finish_narrow.cuh), single threads insert (finish_serial.cuh).
#pragma once

#include "cuda/kd_tree/finish_join.cuh"
#include "cuda/kd_tree/finish_narrow.cuh"
#include "cuda/kd_tree/finish_serial.cuh"
#include "cuda/kd_tree/finish_wide.cuh"

namespace kith::cuda {

/// True if the block has to stop: an earlier step or another block found bad points, or this one does. Loads the
/// points.
template <std::uint32_t kRows, std::uint32_t kThreads, typename T, bool kStaged>
__device__ __forceinline__ bool load_subtree(const Subtree<T, kStaged>& subtree) {
  const FinishParameters<T>& given = subtree.given;
  const std::uint32_t thread = thread_number(), threads = kThreads > 0 ? kThreads : threads_per_block();
  const auto is_there = [&](std::uint32_t k) { return is_sure<kRows>(k) || thread + k * threads < subtree.count; };
  std::uint32_t* was_refused = subtree.flags;
  std::uint32_t* has_bad = subtree.flags + 1;
  if (thread == 0) {
    *was_refused = load_fresh(given.refused);
    *has_bad = 0;
  }
  sync_block();
  if (*was_refused != 0) return true;
  bool is_bad = false;
  if (kStaged || given.looks_for_bad) {
    // With many rows a group of levels came before: coordinates of a dimension lie side by side.
    const std::uint64_t stride = kRows > kFewRows ? 1 : given.source.row_stride, step = threads * stride;
    const T* column = given.source.values + (subtree.base + thread) * stride;
#pragma unroll 1
    for (std::uint32_t d = 0; d < subtree.dims; ++d, column += given.source.dim_stride) {
      T value[kRows];
#pragma unroll
      for (std::uint32_t k = 0; k < kRows; ++k) value[k] = is_there(k) ? column[k * step] : T(0);  // all in flight
      [[maybe_unused]] T* to = subtree.values + d * given.capacity + thread;
#pragma unroll
      for (std::uint32_t k = 0; k < kRows; ++k) {
        if constexpr (kStaged) to[k * threads] = value[k];
      }
      if (kRows <= kFewRows && given.looks_for_bad) {
#pragma unroll
        for (std::uint32_t k = 0; k < kRows; ++k) is_bad = is_bad || !(value[k] - value[k] == T(0));
      }
    }
  }
  std::uint32_t index[kRows];
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    index[k] = static_cast<std::uint32_t>(subtree.base) + thread + k * threads;
  }
  if (kRows > kFewRows || given.source.indices != nullptr) {
    const std::uint32_t* from = given.source.indices + subtree.base + thread;
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) {
      if (is_there(k)) index[k] = from[k * threads];
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t slot = thread + k * threads;
    subtree.indices[slot] = index[k];
    // Rows that are full are turned, each by more: the points that a thread begins with lie in different banks, and so
    // do those that it puts next to each other.
    constexpr std::uint32_t kTurn = 11;
    const bool is_full = is_sure<kRows>(k) || (k + 1) * threads <= subtree.count;
    const std::uint32_t turned = k * threads + ((thread + k * kTurn) & (threads - 1));
    subtree.order[slot] = static_cast<std::uint16_t>(is_full ? turned : is_there(k) ? slot : 0);
  }
  for (std::uint32_t i = thread; i < 4 * threads; i += threads) subtree.counters[i] = 0;
  if (subtree.levels > 0 && !subtree.is_tight(0)) {
    const T* box = given.cut_boxes + subtree.number * 2 * subtree.dims;
    for (std::uint32_t i = thread; i < 2 * subtree.dims; i += threads) subtree.team_box(0, 0)[i] = box[i];
  }
  if (kRows <= kFewRows && given.looks_for_bad && is_bad) {
    atomic_or(given.refused, 1u);
    atomic_or(has_bad, 1u);
  }
  sync_block();
  return *has_bad != 0;
}

/// So many blocks have registers at a time: as many as have shared memory.
template <bool kStaged, std::uint32_t kRows>
inline constexpr int kBlocksAtATime = !kStaged || (kRows > kFewRows && kRows < kManyRows) ? 3 : 2;

/// One block for each subtree, as the FinishPlan says; `kRows` is the plan's. `kThreads` 0: known at run time.
template <typename T, bool kStaged, std::uint32_t kRows,
          std::uint32_t kThreads = kRows <= kFewRows ? 0 : kManyRowsThreads>
__global__ void __launch_bounds__(kRows > kFewRows || !kStaged ? kManyRowsThreads : 512, kBlocksAtATime<kStaged, kRows>)
    finish_subtrees(FinishParameters<T> given) {
  const Subtree<T, kStaged> subtree(given);
  start_next();
  wait_for_previous();
  if (load_subtree<kRows, kThreads>(subtree)) return;
  const auto goes_on_with = [&](std::uint32_t depth, std::uint32_t least_threads) {
    return depth < subtree.levels && threads_per_block() >> depth >= least_threads;
  };
  std::uint32_t depth = 0;
  for (; goes_on_with(depth, kWarp); ++depth) split_with_team<kRows>(subtree, depth);
  for (; goes_on_with(depth, 2); ++depth) split_with_lanes<kRows>(subtree, depth);
  for (; depth < subtree.levels; ++depth) split_alone(subtree, depth);
  sync_block();
  find_leaf_boxes<kRows>(subtree);
  write_leaves<kRows>(subtree);
  join_subtree(subtree);
  if (warp_number() == 0) join_above(given);
}

}  // namespace kith::cuda
