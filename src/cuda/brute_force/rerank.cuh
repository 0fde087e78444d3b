// Gives candidates that a filter has offered their exact chains (L2, in the contract's order). Those that are not below
// the limit of their query become nobody.
//
// A warp takes a query, a lane a candidate: its row is read once, 16 bytes at a time if rows allow it.
#pragma once

#include "core/chain.hpp"
#include "cuda/brute_force/scan_types.hpp"
#include "cuda/intrinsics.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kMostRerankWarps = 8;

/// Four coordinates that lie side by side.
struct alignas(16) FourCoordinates {
  float values[4];
};

/// The chain from a query in shared memory to a point.
template <bool kByFour>
__device__ float chain_of_candidate(const float* query, const float* point, std::uint32_t dims) {
  float sum = 0;
  std::uint32_t d = 0;
  if constexpr (kByFour) {
    constexpr std::uint32_t kAtOnce = 8;  // loads in flight
    FourCoordinates four[kAtOnce];
    for (; d + 4 * kAtOnce <= dims; d += 4 * kAtOnce) {
#pragma unroll
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        four[i] = *reinterpret_cast<const FourCoordinates*>(point + d + 4 * i);
      }
#pragma unroll
      for (std::uint32_t i = 0; i < 4 * kAtOnce; ++i) {
        sum = core::L2Chain{}.step(sum, query[d + i] - four[i / 4].values[i % 4]);
      }
    }
  }
#pragma unroll 4
  for (; d < dims; ++d) sum = core::L2Chain{}.step(sum, query[d] - point[d]);
  return sum;
}

/// The entries [kept[q], counts[q]) of each query q, as far as they have room. `query_room` is in floats.
template <bool kByFour>
__global__ void __launch_bounds__(kMostRerankWarps* kWarp)
    rerank(ScanTask<float> scan, const std::uint32_t* kept, std::uint32_t query_room) {
  float* query = reinterpret_cast<float*>(shared_memory()) + warp_number() * query_room;
  const std::uint64_t queries =
      scan.queries.chosen_count == nullptr ? scan.queries.count : std::uint64_t{*scan.queries.chosen_count};
  const std::uint32_t warps = threads_per_block() / kWarp;
  for (std::uint64_t q = std::uint64_t{block_number()} * warps + warp_number(); q < queries;
       q += std::uint64_t{blocks_in_grid()} * warps) {
    const std::uint32_t first = kept[q];
    const std::uint32_t end = scan.lists.counts[q] < scan.lists.capacity ? scan.lists.counts[q] : scan.lists.capacity;
    if (first >= end) continue;
    sync_warp();  // nobody reads the last query any more
    const float* row = scan.queries.rows + scan.queries.row_of(q) * scan.queries.row_stride;
    for (std::uint32_t d = lane_number(); d < scan.points.dims; d += kWarp) query[d] = row[d];
    sync_warp();
    const Entry<float> limit = scan.lists.limits[q];
    Entry<float>* entries = scan.lists.entries + q * scan.lists.capacity;
    for (std::uint32_t i = first + lane_number(); i < end; i += kWarp) {
      const std::uint32_t number = entries[i].number();
      const float* point = scan.points.rows + std::uint64_t{number} * scan.points.dims;
      const Entry<float> entry(chain_of_candidate<kByFour>(query, point, scan.points.dims), number);
      entries[i] = entry < limit ? entry : Entry<float>::none();
    }
  }
}

/// `kept` says, by query, how many entries have their chains already.
template <typename Launch>
void launch_rerank(const ScanTask<float>& scan, const std::uint32_t* kept, Launch&& launch) {
  if (scan.queries.count == 0) return;
  constexpr std::uint64_t kMostBlocks = 1 << 16;
  constexpr std::uint32_t kSharedBytes = 48 << 10;
  const std::uint32_t query_room = (scan.points.dims + 3) / 4 * 4;
  const std::uint32_t query_bytes = query_room * static_cast<std::uint32_t>(sizeof(float));
  const std::uint32_t warps = std::clamp(kSharedBytes / std::max(query_bytes, 1u), 1u, kMostRerankWarps);
  const std::uint64_t blocks = (scan.queries.count + warps - 1) / warps;
  const bool by_four =
      reinterpret_cast<std::uintptr_t>(scan.points.rows) % sizeof(FourCoordinates) == 0 && scan.points.dims % 4 == 0;
  launch(by_four ? rerank<true> : rerank<false>, static_cast<std::uint32_t>(std::min(blocks, kMostBlocks)),
         warps * kWarp, std::size_t{warps} * query_bytes, scan, kept, query_room);
}

}  // namespace kith::cuda
