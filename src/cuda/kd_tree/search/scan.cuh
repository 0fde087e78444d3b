// Sums of all values before each one, over an array of any length: three kernels.
#pragma once

#include "cuda/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kScanThreads = 256;
inline constexpr std::uint32_t kScanPerThread = 8;
inline constexpr std::uint32_t kScanTile = kScanThreads * kScanPerThread;

inline std::uint64_t scan_tiles_of(std::uint64_t count) { return (count + kScanTile - 1) / kScanTile; }

/// The sum of the values of all threads before this one; `total` becomes that of all. `warp_sums` is shared, one for
/// each warp.
template <typename V>
__device__ V sum_before_thread(V own, V* warp_sums, V& total) {
  V sum = own;
  for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
    const V before = shuffle_up(sum, delta);
    if (lane_number() >= delta) sum += before;
  }
  sync_block();  // the last round's sums are read
  if (lane_number() == kWarp - 1) warp_sums[warp_number()] = sum;
  sync_block();
  V before = 0;
  total = 0;
  for (std::uint32_t warp = 0; warp < kScanThreads / kWarp; ++warp) {
    if (warp < warp_number()) before += warp_sums[warp];
    total += warp_sums[warp];
  }
  return before + sum - own;
}

/// A block per tile.
template <typename V>
__global__ void __launch_bounds__(kScanThreads) sum_tiles(const std::uint32_t* values, std::uint64_t count, V* sums) {
  V* warp_sums = reinterpret_cast<V*>(shared_memory());
  V sum = 0;
  for (std::uint32_t i = 0; i < kScanPerThread; ++i) {
    const std::uint64_t at = std::uint64_t{block_number()} * kScanTile + i * kScanThreads + thread_number();
    if (at < count) sum += values[at];
  }
  V total = 0;
  sum_before_thread(sum, warp_sums, total);
  if (thread_number() == 0) sums[block_number()] = total;
}

/// One block: the sums of the tiles become those before them; the sum of all comes last.
template <typename V>
__global__ void __launch_bounds__(kScanThreads) scan_sums(V* sums, std::uint64_t tiles) {
  V* warp_sums = reinterpret_cast<V*>(shared_memory());
  V before = 0;
  for (std::uint64_t first = 0; first < tiles; first += kScanThreads) {
    const std::uint64_t at = first + thread_number();
    const V own = at < tiles ? sums[at] : 0;
    V total = 0;
    const V sum = before + sum_before_thread(own, warp_sums, total);
    if (at < tiles) sums[at] = sum;
    before += total;
  }
  if (thread_number() == 0) sums[tiles] = before;
}

/// A block per tile. `out` may be `values` itself; it gets one entry more, the sum of all, if `has_end`.
template <typename V>
__global__ void __launch_bounds__(kScanThreads)
    scan_tiles(const std::uint32_t* values, std::uint64_t count, const V* sums, V* out, bool has_end) {
  V* warp_sums = reinterpret_cast<V*>(shared_memory());
  const std::uint64_t first = std::uint64_t{block_number()} * kScanTile + thread_number() * kScanPerThread;
  V own[kScanPerThread], sum = 0;
  for (std::uint32_t i = 0; i < kScanPerThread; ++i) {
    own[i] = first + i < count ? values[first + i] : 0;
    sum += own[i];
  }
  V total = 0;
  V before = sums[block_number()] + sum_before_thread(sum, warp_sums, total);
  for (std::uint32_t i = 0; i < kScanPerThread; ++i) {
    if (first + i < count) out[first + i] = before;
    before += own[i];
  }
  if (has_end && block_number() == 0 && thread_number() == 0) out[count] = sums[blocks_in_grid()];
}

}  // namespace kith::cuda
