// Entries sorted by a whole block, in shared or in global memory.
//
// Bitonic, all exchanges in one direction: a run meets the next one from behind. So what would lie behind the end stays
// there, and any length will do.
#pragma once

#include "cuda/primitives/entry_key.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename T>
__device__ __forceinline__ void exchange(Entry<T>* list, std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  if (b >= count) return;
  const Entry<T> first = list[a], second = list[b];
  if (!(second < first)) return;
  list[a] = second;
  list[b] = first;
}

/// Runs of size / 2 meet.
template <typename T>
__device__ __forceinline__ void exchange_mirrored(Entry<T>* list, std::uint32_t count, std::uint32_t size) {
  const std::uint32_t half = size / 2;
  for (std::uint32_t pair = thread_number(); pair < (count + size - 1) / size * half; pair += threads_per_block()) {
    const std::uint32_t place = pair & (half - 1), begin = (pair - place) * 2;
    exchange(list, begin + place, begin + size - 1 - place, count);
  }
  sync_block();
}

/// The steps that follow, from `stride` on down to that of `end`, which is not done.
template <typename T>
__device__ __forceinline__ void exchange_by_strides(Entry<T>* list, std::uint32_t count, std::uint32_t stride,
                                                    std::uint32_t end) {
  for (; stride > end; stride /= 2) {
    const std::uint32_t size = 2 * stride;
    for (std::uint32_t pair = thread_number(); pair < (count + size - 1) / size * stride; pair += threads_per_block()) {
      const std::uint32_t first = 2 * pair - (pair & (stride - 1));
      exchange(list, first, first + stride, count);
    }
    sync_block();
  }
}

/// Ascending. The block is synchronised before.
template <typename T>
__device__ void sort_by_block(Entry<T>* list, std::uint32_t count) {
  for (std::uint32_t size = 2; size / 2 < count; size *= 2) {
    exchange_mirrored(list, count, size);
    exchange_by_strides(list, count, size / 4, 0);
  }
}

template <typename T>
__device__ __forceinline__ void copy_by_block(Entry<T>* to, const Entry<T>* from, std::uint32_t count) {
  for (std::uint32_t i = thread_number(); i < count; i += threads_per_block()) to[i] = from[i];
}

/// The same of a list in global memory; what is near each other is exchanged in a buffer of kCapacity entries, a power
/// of two, in shared memory.
template <std::uint32_t kCapacity, typename T>
__device__ void sort_long_list(Entry<T>* list, std::uint32_t count, Entry<T>* storage) {
  for (std::uint32_t size = kCapacity; size / 2 < count || size == kCapacity; size *= 2) {
    if (size > kCapacity) {
      exchange_mirrored(list, count, size);
      exchange_by_strides(list, count, size / 4, kCapacity / 2);
    }
    for (std::uint32_t begin = 0; begin < count; begin += kCapacity) {
      const std::uint32_t part = count - begin < kCapacity ? count - begin : kCapacity;
      copy_by_block(storage, list + begin, part);
      sync_block();
      if (size > kCapacity) {
        exchange_by_strides(storage, part, kCapacity / 2, 0);
      } else {
        sort_by_block(storage, part);
      }
      copy_by_block(list + begin, storage, part);
      sync_block();
    }
  }
}

}  // namespace kith::cuda
