// How the kernels of a search in a cover tree are launched: blocks, threads, shared memory, where lists and frames lie.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/cover_tree/tuning.hpp"
#include "cuda/queries/warps_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kith::cuda {

struct CoverPlan {
  WarpsPlan warps;
  std::uint32_t list_capacity = 0;  ///< 0: in the lanes
  bool list_is_shared = true;
  bool frames_are_shared = true;
  std::uint64_t list_bytes = 0;    ///< in global memory, for all warps; a multiple of 16
  std::uint64_t frames_bytes = 0;  ///< the same
};

/// `entries` of a list, 0 without one; `frame_bytes` and `fixed_bytes` are of a warp.
template <typename T>
CoverPlan plan_cover(std::uint64_t queries, std::uint32_t entries, std::uint64_t frame_bytes, std::uint32_t fixed_bytes,
                     const SearchLimits& limits) {
  CoverPlan plan;
  std::uint32_t shared = fixed_bytes;
  std::uint64_t global = 0;
  plan.frames_are_shared = frame_bytes <= kSharedFrames;
  if (plan.frames_are_shared) shared += static_cast<std::uint32_t>((frame_bytes + 15) / 16 * 16);
  std::uint64_t list_bytes = 0;
  if (entries > kListInLanes) {
    plan.list_capacity = std::max(kShortestList, std::bit_ceil(entries));
    list_bytes = 2 * std::uint64_t{plan.list_capacity} * sizeof(core::Candidate<T>);
    plan.list_is_shared = list_bytes + shared <= kSharedPerWarp;
    if (plan.list_is_shared) shared += static_cast<std::uint32_t>(list_bytes);
  }
  if (!plan.frames_are_shared) global += frame_bytes;
  if (!plan.list_is_shared) global += list_bytes;
  std::uint32_t most_blocks = 0x7fffffff;
  if (global > 0) {
    const std::uint64_t per_block = global * plan_warps(1, shared).warps_per_block;
    most_blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        limits.scratch_bytes / per_block, 1, std::uint64_t{limits.processors} * kBlocksWithLists));
  }
  plan.warps = plan_warps(queries, shared, most_blocks);
  const std::uint64_t warps = std::uint64_t{plan.warps.blocks} * plan.warps.warps_per_block;
  if (!plan.frames_are_shared) plan.frames_bytes = (warps * frame_bytes + 15) / 16 * 16;
  if (!plan.list_is_shared) plan.list_bytes = (warps * list_bytes + 15) / 16 * 16;
  return plan;
}

}  // namespace kith::cuda
