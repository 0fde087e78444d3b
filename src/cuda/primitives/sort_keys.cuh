// Entries sorted by a warp in its registers: a lane holds a few of them.
#pragma once

#include "cuda/primitives/entry_key.cuh"
#include "cuda/primitives/sorting_network.cuh"

#include <cstdint>

namespace kith::cuda {

/// The lesser of two keys, or the greater.
template <typename T>
__device__ __forceinline__ EntryKey<T> keep(const EntryKey<T>& own, const EntryKey<T>& other, bool keeps_lesser) {
  return (own < other) == keeps_lesser ? own : other;
}

/// Ascending: entry i becomes row i % kRows of lane i / kRows. Bitonic, as sort_across_lanes.
template <typename T, std::uint32_t kRows>
__device__ __forceinline__ void sort_keys(EntryKey<T> (&keys)[kRows]) {
  sort_in_registers(keys);
#pragma unroll
  for (std::uint32_t lanes = 2; lanes <= kWarp; lanes *= 2) {
    EntryKey<T> others[kRows];
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) others[i] = key_of_lane_xor(keys[kRows - 1 - i], lanes - 1);
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) keys[i] = keep(keys[i], others[i], (lane_number() & lanes / 2) == 0);
#pragma unroll
    for (std::uint32_t stride = lanes / 4; stride > 0; stride /= 2) {
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) {
        keys[i] = keep(keys[i], key_of_lane_xor(keys[i], stride), (lane_number() & stride) == 0);
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

/// The first `count` <= 32 * kRows entries of a list, sorted and put down by `put(i, entry)`.
template <std::uint32_t kRows, typename T, typename Put>
__device__ __forceinline__ void sort_list_of_rows(const Entry<T>* list, std::uint32_t count, Put&& put) {
  EntryKey<T> keys[kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) keys[i] = load_key(list, i * kWarp + lane_number(), count);
  sort_keys<T>(keys);
  sync_warp();  // all have read: `put` may write over the list
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
    const std::uint32_t place = lane_number() * kRows + i;
    if (place < count) put(place, keys[i].entry());
  }
}

/// The same of up to 8 * kWarp.
template <typename T, typename Put>
__device__ __forceinline__ void sort_list_by_warp(const Entry<T>* list, std::uint32_t count, Put&& put) {
  if (count <= kWarp) {
    sort_list_of_rows<1>(list, count, put);
  } else if (count <= 2 * kWarp) {
    sort_list_of_rows<2>(list, count, put);
  } else if (count <= 4 * kWarp) {
    sort_list_of_rows<4>(list, count, put);
  } else {
    sort_list_of_rows<8>(list, count, put);
  }
}

}  // namespace kith::cuda
