// Small arrays of one thread sorted and merged in registers: every exchange is known at compile time.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <bit>
#include <cstdint>

namespace kith::cuda {

__device__ __forceinline__ void put_in_order(std::uint32_t& a, std::uint32_t& b) {
  const std::uint32_t lesser = a < b ? a : b, greater = a < b ? b : a;
  a = lesser;
  b = greater;
}

/// The same of whatever has an order.
template <typename Key>
__device__ __forceinline__ void put_in_order(Key& a, Key& b) {
  const bool is_reversed = b < a;
  const Key lesser = is_reversed ? b : a, greater = is_reversed ? a : b;
  a = lesser;
  b = greater;
}

/// Ascending, by Batcher's odd-even merges. kSize is a power of two.
template <typename Key, std::uint32_t kSize>
__device__ __forceinline__ void sort_in_registers(Key (&keys)[kSize]) {
#pragma unroll
  for (std::uint32_t part = 1; part < kSize; part *= 2) {
#pragma unroll
    for (std::uint32_t stride = part; stride > 0; stride /= 2) {
#pragma unroll
      for (std::uint32_t i = 0; i + stride < kSize; ++i) {
        // Within a block of 2 * part; the first step of a merge pairs i with i + part, later ones skip the outermost.
        const bool is_pair = stride == part
                                 ? i % (2 * part) < part
                                 : i % (2 * part) >= stride && (i % (2 * part) - stride) % (2 * stride) < stride &&
                                       i % (2 * part) + stride < 2 * part;
        if (is_pair) put_in_order(keys[i], keys[i + stride]);
      }
    }
  }
}

/// `kept` becomes the least kKept of both, ascending, as both are before.
template <std::uint32_t kKept, std::uint32_t kFresh>
__device__ __forceinline__ void merge_in_registers(std::uint32_t (&kept)[kKept], const std::uint32_t (&fresh)[kFresh]) {
  constexpr std::uint32_t kSize = std::bit_ceil(kKept);
  // An ascending list met by one from behind, the lesser of each pair: those are the least, and rise and fall once.
  // Zeros behind them fall on; what is compared with one of those is known, so it costs nothing.
  std::uint32_t both[kSize];
#pragma unroll
  for (std::uint32_t i = 0; i < kSize; ++i) {
    const std::uint32_t mirror = kKept - 1 - i;
    both[i] = i < kKept ? kept[i < kKept ? i : 0] : 0;
    if (i < kKept && mirror < kFresh && fresh[mirror < kFresh ? mirror : 0] < both[i]) {
      both[i] = fresh[mirror < kFresh ? mirror : 0];
    }
  }
#pragma unroll
  for (std::uint32_t stride = kSize / 2; stride > 0; stride /= 2) {
#pragma unroll
    for (std::uint32_t i = 0; i < kSize; ++i) {
      if ((i & stride) == 0) put_in_order(both[i], both[i + stride]);
    }
  }
#pragma unroll
  for (std::uint32_t i = 0; i < kKept; ++i) kept[i] = both[kSize - kKept + i];
}

}  // namespace kith::cuda
