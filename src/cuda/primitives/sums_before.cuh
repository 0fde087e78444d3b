// Sums of all values before each one, over an array of any length: three kernels.
#pragma once

#include "cuda/primitives/sum_tiles.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

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
  for (std::uint32_t warp = 0; warp < kSumThreads / kWarp; ++warp) {
    if (warp < warp_number()) before += warp_sums[warp];
    total += warp_sums[warp];
  }
  return before + sum - own;
}

/// A block per tile.
template <typename V>
__global__ void __launch_bounds__(kSumThreads) sum_tiles(const std::uint32_t* values, std::uint64_t count, V* sums) {
  V* warp_sums = reinterpret_cast<V*>(shared_memory());
  V sum = 0;
  for (std::uint32_t i = 0; i < kSumPerThread; ++i) {
    const std::uint64_t at = std::uint64_t{block_number()} * kSumTile + i * kSumThreads + thread_number();
    if (at < count) sum += values[at];
  }
  V total = 0;
  sum_before_thread(sum, warp_sums, total);
  if (thread_number() == 0) sums[block_number()] = total;
}

/// One block: the sums of the tiles become those before them; the sum of all comes last.
template <typename V>
__global__ void __launch_bounds__(kSumThreads) sum_before_tiles(V* sums, std::uint64_t tiles) {
  V* warp_sums = reinterpret_cast<V*>(shared_memory());
  V before = 0;
  for (std::uint64_t first = 0; first < tiles; first += kSumThreads) {
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
__global__ void __launch_bounds__(kSumThreads)
    sum_before_each(const std::uint32_t* values, std::uint64_t count, const V* sums, V* out, bool has_end) {
  V* warp_sums = reinterpret_cast<V*>(shared_memory());
  const std::uint64_t first = std::uint64_t{block_number()} * kSumTile + thread_number() * kSumPerThread;
  V own[kSumPerThread], sum = 0;
  for (std::uint32_t i = 0; i < kSumPerThread; ++i) {
    own[i] = first + i < count ? values[first + i] : 0;
    sum += own[i];
  }
  V total = 0;
  V before = sums[block_number()] + sum_before_thread(sum, warp_sums, total);
  for (std::uint32_t i = 0; i < kSumPerThread; ++i) {
    if (first + i < count) out[first + i] = before;
    before += own[i];
  }
  if (has_end && block_number() == 0 && thread_number() == 0) out[count] = sums[blocks_in_grid()];
}

/// Sums before each of `count` values; `sums` has room for sum_tiles_of(count) + 1.
template <typename V, typename Launch>
void launch_sums_before(const std::uint32_t* values, std::uint64_t count, V* sums, V* out, bool has_end,
                        Launch&& launch) {
  const std::uint64_t tiles = sum_tiles_of(count);
  const std::size_t shared = kSumThreads / kWarp * sizeof(V);
  const auto blocks = static_cast<std::uint32_t>(std::max<std::uint64_t>(tiles, 1));
  launch(sum_tiles<V>, blocks, kSumThreads, shared, values, count, sums);
  launch(sum_before_tiles<V>, 1u, kSumThreads, shared, sums, std::uint64_t{blocks});
  launch(sum_before_each<V>, blocks, kSumThreads, shared, values, count, static_cast<const V*>(sums), out, has_end);
}

}  // namespace kith::cuda
