// Lists of a radius search, sorted where they lie: a warp for each.
#pragma once

#include "cuda/queries/found_within.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kSortListThreads = 128;

/// List i lies from starts[i] to starts[i + 1], less starts_base; there is one for each query.
template <typename T>
__global__ void __launch_bounds__(kSortListThreads) sort_lists(const __grid_constant__ RadiusRequest<T> request) {
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * (kSortListThreads / kWarp);
  const std::uint64_t first = std::uint64_t{block_number()} * (kSortListThreads / kWarp) + warp_number();
  for (std::uint64_t i = first; i < request.queries.count; i += warps) {
    const std::uint64_t start = request.starts[i], count = request.starts[i + 1] - start;
    sort_list(ListEntries<T>(request, start - request.starts_base), count, request.takes_roots);
  }
}

}  // namespace kith::cuda
