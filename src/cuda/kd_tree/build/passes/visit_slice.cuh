// The points of a part of a segment, dealt out to the threads of a block: to each some that lie side by side.
#pragma once

#include "cuda/kd_tree/build/passes/loaded_points.cuh"
#include "cuda/kd_tree/build/passes/segment_slice.cuh"

#include <type_traits>

namespace kith::cuda {

/// Calls visit(own, is_whole) with the first point of this thread, as often as there are some. Where all points of the
/// block, or at the ends of the slice of a warp, are there, `is_whole` says so at compile time, and they need no
/// conditions. Whole warps.
template <typename T, typename Visit>
__device__ __forceinline__ void visit_slice(const SegmentSlice& slice, Visit&& visit) {
  constexpr std::uint32_t kEach = kTogether<T>, kTile = kEach * kPassThreads, kWarpTile = kEach * kWarp;
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  if (first >= end) return;
  std::uint32_t tile = first / kEach * kEach;
  std::uint32_t ends[2] = {tile, tile};
  bool is_ragged[2] = {tile < first && end - tile > kTile, true};
  if (is_ragged[0]) tile += kTile;
#pragma unroll 1
  while (tile >= first && end - tile >= kTile) {
    visit(tile + thread_number() * kEach, std::true_type{});
    if (end - tile == kTile) {
      is_ragged[1] = false;
      break;
    }
    tile += kTile;
  }
  ends[1] = tile;
#pragma unroll 1
  for (std::uint32_t i = 0; i < 2; ++i) {
    if (!is_ragged[i]) continue;
    const std::uint32_t begin = ends[i] + warp_number() * kWarpTile, own = ends[i] + thread_number() * kEach;
    if (begin >= first && begin < end && end - begin >= kWarpTile) {
      visit(own, std::true_type{});
    } else {
      visit(own, std::false_type{});
    }
  }
}

}  // namespace kith::cuda
