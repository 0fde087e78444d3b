// Lists of a radius search, sorted where they lie: a warp for each.
#pragma once

#include "cuda/primitives/candidate_warp.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kSortListThreads = 128;

/// List i lies from starts[i] to starts[i + 1], less starts_base.
template <typename T>
__global__ void __launch_bounds__(kSortListThreads)
    sort_lists(const std::uint64_t* starts, std::uint64_t starts_base, std::uint64_t lists, std::uint32_t* indices,
               T* reduced) {
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * (kSortListThreads / kWarp);
  const std::uint64_t first = std::uint64_t{block_number()} * (kSortListThreads / kWarp) + warp_number();
  for (std::uint64_t i = first; i < lists; i += warps) {
    const std::uint64_t start = starts[i] - starts_base, count = starts[i + 1] - starts[i];
    AnswerEntries<T> entries{reduced + start, indices + start};
    if (count > kWarp) {
      sort_in_memory(entries, count);
      continue;
    }
    const bool has_entry = lane_number() < count;
    Candidate<T> own = has_entry ? entries.at(lane_number()) : last_candidate<T>();
    sync_warp();
    sort_in_lanes(own);
    if (has_entry) entries.put(lane_number(), own);
  }
}

}  // namespace kith::cuda
