// How the kernels of a search are launched: blocks, threads, shared memory, where lists lie.
#pragma once

#include "core/host_device.hpp"
#include "core/order/candidate.hpp"
#include "cuda/queries/tuning.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kith::cuda {

/// How many neighbours there can be; a list has at least one place.
KITH_HOST_DEVICE inline std::uint32_t entries_of_list(std::uint32_t k, std::uint32_t points) {
  const std::uint32_t entries = k < points ? k : points;
  return entries == 0 ? 1 : entries;
}

/// What the GPU offers a search.
struct SearchLimits {
  std::uint32_t processors = 132;
  std::uint64_t scratch_bytes = std::uint64_t{1} << 30;  ///< the most that lists may take in global memory
};

/// A launch of warps that take queries.
struct WarpsPlan {
  std::uint32_t warps_per_block = 4;
  std::uint32_t blocks = 1;
  std::size_t shared_bytes = 0;  ///< of a block
};

/// The lists of a kNN search.
struct ListsPlan {
  WarpsPlan warps;
  std::uint32_t capacity = 0;       ///< of a list in memory; 0: in the lanes
  bool is_shared = true;            ///< where lists in memory are
  std::uint64_t scratch_bytes = 0;  ///< in global memory
};

/// Every query a warp, as far as a grid goes; `most_blocks` if memory or the unknown number of queries says so.
inline WarpsPlan plan_warps(std::uint64_t queries, std::uint32_t bytes_per_warp,
                            std::uint32_t most_blocks = 0x7fffffff) {
  constexpr std::uint32_t kMostWarps = 4, kSharedBytes = 48 << 10;
  WarpsPlan plan;
  plan.warps_per_block = bytes_per_warp == 0 ? kMostWarps : std::clamp(kSharedBytes / bytes_per_warp, 1u, kMostWarps);
  const std::uint64_t blocks = (queries + plan.warps_per_block - 1) / plan.warps_per_block;
  plan.blocks = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(blocks, 1, most_blocks));
  plan.shared_bytes = std::size_t{plan.warps_per_block} * bytes_per_warp;
  return plan;
}

/// `bytes_per_warp` are those without a list.
template <typename T>
ListsPlan plan_lists(std::uint64_t queries, std::uint32_t entries, std::uint32_t bytes_per_warp,
                     const SearchLimits& limits) {
  ListsPlan plan;
  if (entries <= kListInLanes) {
    plan.warps = plan_warps(queries, bytes_per_warp);
    return plan;
  }
  plan.capacity = std::max(kShortestList, std::bit_ceil(entries));
  const std::uint64_t list_bytes = 2 * std::uint64_t{plan.capacity} * sizeof(core::Candidate<T>);
  plan.is_shared = list_bytes + bytes_per_warp <= kSharedPerWarp;
  if (plan.is_shared) {
    plan.warps = plan_warps(queries, bytes_per_warp + static_cast<std::uint32_t>(list_bytes));
    return plan;
  }
  const std::uint32_t warps_per_block = plan_warps(1, bytes_per_warp).warps_per_block;
  const std::uint64_t fitting = limits.scratch_bytes / (list_bytes * warps_per_block);
  const std::uint64_t most = std::clamp<std::uint64_t>(fitting, 1, std::uint64_t{limits.processors} * kBlocksWithLists);
  plan.warps = plan_warps(queries, bytes_per_warp, static_cast<std::uint32_t>(most));
  plan.scratch_bytes = list_bytes * warps_per_block * plan.warps.blocks;
  return plan;
}

}  // namespace kith::cuda
