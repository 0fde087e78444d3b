// Sorts keys in the registers of some lanes of a warp, as far as is needed to see the middle.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// The neighbours of the cut through the middle of a sorted sequence.
template <typename Key>
struct MiddleKeys {
  Key last_left;
  Key first_right;

  __device__ __forceinline__ void add(Key low, Key high) {
    last_left = low > last_left ? low : last_left;
    first_right = high < first_right ? high : first_right;
  }
};

template <typename Key>
__device__ __forceinline__ void exchange(Key& a, Key& b) {
  const Key low = b < a ? b : a, high = b < a ? a : b;
  a = low;
  b = high;
}

/// Sorts the keys of each thread by a network: Batcher's merge of odd and even keys, cut to any number of them.
template <typename Key, std::uint32_t kRows>
__device__ __forceinline__ void sort_own(Key (&key)[kRows]) {
#pragma unroll
  for (std::uint32_t size = 1; size < kRows; size *= 2) {
#pragma unroll
    for (std::uint32_t step = size; step > 0; step /= 2) {
#pragma unroll
      for (std::uint32_t a = step % size; a + step < kRows; ++a) {
        const std::uint32_t from = a - step % size;
        const bool is_first = (from / step) % 2 == 0;
        if (is_first && a / (2 * size) == (a + step) / (2 * size)) exchange(key[a], key[a + step]);
      }
    }
  }
}

/// Sorts the keys of a thread that rise and then fall, or fall and then rise. Only powers of two gain from knowing
/// that.
template <typename Key, std::uint32_t kRows>
__device__ __forceinline__ void merge_own(Key (&key)[kRows]) {
  if constexpr ((kRows & (kRows - 1)) == 0) {
#pragma unroll
    for (std::uint32_t step = kRows / 2; step > 0; step /= 2) {
#pragma unroll
      for (std::uint32_t k = 0; k < kRows; ++k) {
        if ((k & step) == 0) exchange(key[k], key[k + step]);
      }
    }
  } else {
    sort_own(key);
  }
}

/// Merges the sorted keys of kLanes / 2 neighbouring lanes with those of the next ones.
template <std::uint32_t kLanes, typename Key, std::uint32_t kRows>
__device__ __forceinline__ void merge_lanes(Key (&key)[kRows]) {
  bool keeps_high = (lane_number() & (kLanes / 2)) != 0;
#pragma unroll
  for (std::uint32_t k = 0; k < (kRows + 1) / 2; ++k) {  // against the mirror image
    const Key a = shuffle_xor(key[kRows - 1 - k], kLanes - 1);
    if (k != kRows - 1 - k) {
      const Key b = shuffle_xor(key[k], kLanes - 1);
      key[kRows - 1 - k] = (b < key[kRows - 1 - k]) != keeps_high ? b : key[kRows - 1 - k];
    }
    key[k] = (a < key[k]) != keeps_high ? a : key[k];
  }
#pragma unroll
  for (std::uint32_t step = kLanes / 4; step > 0; step /= 2) {
    keeps_high = (lane_number() & step) != 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) {
      const Key other = shuffle_xor(key[k], step);
      key[k] = (other < key[k]) != keeps_high ? other : key[k];
    }
  }
  merge_own(key);
}

/// Of the kRows keys of each of `threads` neighbouring lanes, a power of two from 2 to 16. All lanes of the warp.
template <typename Key, std::uint32_t kRows>
__device__ __forceinline__ MiddleKeys<Key> find_middle(std::uint32_t threads, Key (&key)[kRows]) {
  sort_own(key);
  if (threads > 2) merge_lanes<2>(key);
  if (threads > 4) merge_lanes<4>(key);
  if (threads > 8) merge_lanes<8>(key);
  MiddleKeys<Key> middle{0, static_cast<Key>(~Key{0})};
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {  // the last merge only as far as to know which keys go to which half
    const Key other = shuffle_xor(key[kRows - 1 - k], threads - 1);
    middle.add(other < key[k] ? other : key[k], other < key[k] ? key[k] : other);
  }
#pragma unroll 1
  for (std::uint32_t step = threads / 4; step > 0; step /= 2) {
    middle.add(shuffle_xor(middle.last_left, step), shuffle_xor(middle.first_right, step));
  }
  return middle;
}

}  // namespace kith::cuda
