// What the selections by whole blocks share: sums, least and greatest keys, and the end of a row.
#pragma once

#include "cuda/primitives/block_sort.cuh"
#include "cuda/primitives/entry_key.cuh"
#include "cuda/brute_force/select/select_row.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kSelectThreads = 512;
inline constexpr std::uint32_t kSelectBlockWarps = kSelectThreads / kWarp;
/// Entries that a thread of a block loads at once.
inline constexpr std::uint32_t kThreadAhead = 4;

template <typename T>
struct BlockStorage {
  static constexpr std::uint32_t kEntries = 32768 / sizeof(Entry<T>);
  Entry<T> entries[kEntries];
  Entry<T> of_warps[kSelectBlockWarps];
  std::uint32_t sums[kSelectBlockWarps];
};

struct BlockSum {
  std::uint32_t before, all;
};

/// Over the threads before this one, and all. Synchronises the block.
template <typename T>
__device__ __forceinline__ BlockSum sum_in_block(BlockStorage<T>& storage, std::uint32_t value) {
  const std::uint32_t up_to = sum_up_to_lane(value);
  if (lane_number() == kWarp - 1) storage.sums[warp_number()] = up_to;
  sync_block();
  const std::uint32_t of_lane = lane_number() < kSelectBlockWarps ? storage.sums[lane_number()] : 0;
  const std::uint32_t warps_before = sum_of_warp(lane_number() < warp_number() ? of_lane : 0);
  const std::uint32_t all = sum_of_warp(of_lane);
  sync_block();
  return {warps_before + up_to - value, all};
}

/// The least of the keys of all threads, or the greatest. Synchronises the block.
template <bool kLeast, typename T>
__device__ __forceinline__ EntryKey<T> extreme_in_block(BlockStorage<T>& storage, EntryKey<T> key) {
  const auto reduce = [&] {
#pragma unroll
    for (std::uint32_t mask = kWarp / 2; mask > 0; mask /= 2) {
      const EntryKey<T> other = key_of_lane_xor(key, mask);
      if ((other < key) == kLeast) key = other;
    }
  };
  reduce();
  if (lane_number() == 0) storage.of_warps[warp_number()] = key.entry();
  sync_block();
  key = EntryKey<T>(storage.of_warps[lane_number() % kSelectBlockWarps]);
  reduce();
  sync_block();
  return key;
}

/// Each entry of a row once, by any thread.
template <typename T, typename Visit>
__device__ __forceinline__ void each_in_block(const Entry<T>* list, std::uint32_t length, Visit&& visit) {
  for (std::uint32_t from = 0; from < length; from += kThreadAhead * kSelectThreads) {
    EntryKey<T> keys[kThreadAhead];
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadAhead; ++i) {
      keys[i] = load_key(list, from + i * kSelectThreads + thread_number(), length);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadAhead; ++i) visit(keys[i]);
  }
}

/// The entries up to `bound`, but for none, go to the front of the row; returns how many they are. `last` becomes the
/// greatest of them.
template <typename T>
__device__ __forceinline__ std::uint32_t move_to_front(BlockStorage<T>& storage, Entry<T>* list, std::uint32_t length,
                                                       const EntryKey<T>& bound, EntryKey<T>& last) {
  std::uint32_t kept = 0;
  last = key_of_bits<T>(0);
  for (std::uint32_t from = 0; from < length; from += kThreadAhead * kSelectThreads) {
    EntryKey<T> keys[kThreadAhead];
    std::uint32_t own = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadAhead; ++i) {
      keys[i] = load_key(list, from + i * kSelectThreads + thread_number(), length);
      if (bound < keys[i] || is_none(keys[i])) {
        keys[i] = key_of_none<T>();
      } else {
        ++own;
        if (last < keys[i]) last = keys[i];
      }
    }
    // All have read before any thread writes, and none writes behind what was read.
    const BlockSum sum = sum_in_block(storage, own);
    Entry<T>* at = list + kept + sum.before;
#pragma unroll
    for (std::uint32_t i = 0; i < kThreadAhead; ++i) {
      if (!is_none(keys[i])) *at++ = keys[i].entry();
    }
    kept += sum.all;
  }
  last = extreme_in_block<false>(storage, last);
  return kept;
}

/// The answer of a row, from a sorted list of `kept`.
template <typename T>
__device__ __forceinline__ void answer_by_block(const SelectTask<T>& task, const SelectRow<T>& opened,
                                                const Entry<T>* sorted, std::uint32_t kept) {
  for (std::uint32_t i = thread_number(); i < kept; i += kSelectThreads) {
    put_answer(task, opened.answer + i, sorted[i]);
  }
  for (std::uint32_t i = kept + thread_number(); i < task.k; i += kSelectThreads) {
    put_missing(task, opened.answer + i);
  }
}

/// Sorts the first `count` entries of a row, and returns where they lie then. The block is synchronised before and
/// after.
template <typename T>
__device__ __forceinline__ Entry<T>* sort_front(BlockStorage<T>& storage, Entry<T>* list, std::uint32_t count) {
  if (count > BlockStorage<T>::kEntries) {
    sort_long_list<BlockStorage<T>::kEntries>(list, count, storage.entries);
    return list;
  }
  copy_by_block(storage.entries, list, count);
  sync_block();
  sort_by_block(storage.entries, count);
  return storage.entries;
}

/// Calls `select(row, opened row)` for each row of a block.
template <typename T, typename Select>
__device__ __forceinline__ void each_row_of_block(const SelectTask<T>& task, Select&& select) {
  const std::uint64_t rows = rows_of(task);
  for (std::uint64_t row = block_number(); row < rows; row += blocks_in_grid()) {
    const SelectRow<T> opened = open_row(task, row, thread_number() == 0);
    if (!opened.is_skipped) select(row, opened);
  }
}

}  // namespace kith::cuda
