// The kernel that finishes the subtrees: loads a subtree, splits it level by level down to the leaves, writes it.
//
// Per point: coordinates and index are read once and written once; a level costs one read of a coordinate, one counter
// and one move of two bytes in shared memory. A node belongs to as many threads as hold its points: whole warps
// count (finish_wide.cuh), parts of a warp sort (finish_narrow.cuh), single threads insert (finish_serial.cuh).
#pragma once

#include "cuda/kd_tree/build/finish/finish_codes.cuh"
#include "cuda/kd_tree/build/finish/finish_join.cuh"
#include "cuda/kd_tree/build/finish/finish_load.cuh"
#include "cuda/kd_tree/build/finish/finish_narrow.cuh"
#include "cuda/kd_tree/build/finish/finish_serial.cuh"
#include "cuda/kd_tree/build/finish/finish_wide.cuh"

namespace kith::cuda {

/// So many blocks have registers at a time: as many as have shared memory.
template <bool kStaged, std::uint32_t kRows>
inline constexpr int kBlocksAtATime = !kStaged || (kRows > kFewRows && kRows < kManyRows) ? 3 : 2;

/// One block for each subtree, as the FinishPlan says; `kRows` is the plan's. `kThreads` 0: known at run time.
template <typename T, bool kStaged, std::uint32_t kRows,
          std::uint32_t kThreads = kRows <= kFewRows ? 0 : kManyRowsThreads>
__global__ void __launch_bounds__(kRows > kFewRows || !kStaged ? kManyRowsThreads : 512, kBlocksAtATime<kStaged, kRows>)
    finish_subtrees(FinishParameters<T> given) {
  Subtree<T, kStaged> subtree(given);
  constexpr bool kMayBeCoded = kStaged && kRows > kFewRows;
  start_next();
  wait_for_previous();
  const bool is_tied = kMayBeCoded && given.tied != nullptr && subtree.dims <= kCodedDims && subtree.levels > 0 &&
                       given.tied[subtree.number >> given.tied_levels] != 0;
  if (load_subtree<kRows, kThreads>(subtree)) return;
  if constexpr (kMayBeCoded) {
    if (is_tied) subtree.is_coded = write_codes_of_subtree<kRows>(subtree);
  }
  const auto goes_on_with = [&](std::uint32_t depth, std::uint32_t least_threads) {
    return depth < subtree.levels && threads_per_block() >> depth >= least_threads;
  };
  std::uint32_t depth = given.is_arranged ? subtree.levels : 0;
  for (; goes_on_with(depth, kWarp); ++depth) split_with_team<kRows>(subtree, depth);
  for (; goes_on_with(depth, 2); ++depth) split_with_lanes<kRows>(subtree, depth);
  for (; depth < subtree.levels; ++depth) split_alone(subtree, depth);
  if constexpr (kMayBeCoded) {
    if (subtree.is_coded) {
      sync_after_teams();
      restore_coordinates(subtree);
      subtree.is_coded = false;
    }
  }
  sync_after_teams();
  find_leaf_boxes<kRows>(subtree);
  write_leaves<kRows>(subtree);
  join_subtree(subtree);
  if (warp_number() == 0) join_above(given);
}

}  // namespace kith::cuda
