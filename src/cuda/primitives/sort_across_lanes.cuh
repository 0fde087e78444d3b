// Keys sorted by a warp in its registers: a lane holds a few of them.
#pragma once

#include "cuda/primitives/sorting_network.cuh"

namespace kith::cuda {

/// The lesser of two keys, or the greater.
__device__ __forceinline__ std::uint32_t keep(std::uint32_t own, std::uint32_t other, bool keeps_lesser) {
  const std::uint32_t lesser = own < other ? own : other, greater = own < other ? other : own;
  return keeps_lesser ? lesser : greater;
}

/// Ascending: entry i becomes row i % kRows of lane i / kRows. kRows is a power of two. Bitonic: what lies in one lane
/// is exchanged there, so that of the 36 steps for 256 keys 15 are shuffles.
template <std::uint32_t kRows>
__device__ __forceinline__ void sort_across_lanes(std::uint32_t (&keys)[kRows]) {
  sort_in_registers(keys);
#pragma unroll
  for (std::uint32_t lanes = 2; lanes <= kWarp; lanes *= 2) {
    // An ascending run meets the next one from behind: the lesser of each pair to the lower half.
    std::uint32_t others[kRows];
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) others[i] = shuffle_xor(keys[kRows - 1 - i], lanes - 1);
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) keys[i] = keep(keys[i], others[i], (lane_number() & lanes / 2) == 0);
#pragma unroll
    for (std::uint32_t stride = lanes / 4; stride > 0; stride /= 2) {
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) {
        keys[i] = keep(keys[i], shuffle_xor(keys[i], stride), (lane_number() & stride) == 0);
      }
    }
#pragma unroll
    for (std::uint32_t stride = kRows / 2; stride > 0; stride /= 2) {
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) {
        if ((i & stride) == 0) put_in_order(keys[i], keys[i + stride]);
      }
    }
  }
}

}  // namespace kith::cuda
