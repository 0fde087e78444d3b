// The k least of a list of any length, by one warp: what may still be among them waits in shared memory.
#pragma once

#include "cuda/primitives/held_keys.cuh"

#include <cstdint>

namespace kith::cuda {

/// Entries that a warp loads at once.
inline constexpr std::uint32_t kAheadRows = 4;
inline constexpr std::uint32_t kAhead = kAheadRows * kWarp;

/// How many entries wait while more come; `k` <= kMostByWarps.
inline constexpr std::uint32_t waiting_capacity(std::uint32_t k) { return k <= 128 ? 256 : 512; }

/// Leaves the k least of up to HeldKeys::kMost entries at the front of a list, at least k of which are not none.
/// Returns the last of them.
template <typename T>
__device__ KITH_NOINLINE EntryKey<T> cut_list(Entry<T>* list, std::uint32_t length, std::uint32_t k) {
  HeldKeys<T> held;
  held.load(list, length);
  held.select(k);
  held.put(list);
  return held.last_selected();
}

template <typename T>
__device__ __forceinline__ void load_ahead(const Entry<T>* list, std::uint32_t from, std::uint32_t length,
                                           EntryKey<T> (&keys)[kAheadRows]) {
#pragma unroll
  for (std::uint32_t i = 0; i < kAheadRows; ++i) keys[i] = load_key(list, from + i * kWarp + lane_number(), length);
}

/// All that may be among the k least go to `waiting`, which has the capacity above; returns how many they are.
template <typename T>
__device__ KITH_NOINLINE std::uint32_t let_wait(const Entry<T>* list, std::uint32_t length, std::uint32_t k,
                                                Entry<T>* waiting, std::uint32_t capacity) {
  EntryKey<T> limit = key_of_none<T>();
  EntryKey<T> keys[kAheadRows];
  load_ahead(list, 0, length, keys);
  const std::uint32_t lower_lanes = (1u << lane_number()) - 1;
  std::uint32_t count = 0;
  for (std::uint32_t from = 0; from < length;) {
    EntryKey<T> now[kAheadRows];
    bool any = false;
#pragma unroll
    for (std::uint32_t i = 0; i < kAheadRows; ++i) {
      now[i] = keys[i];
      any = any || now[i] < limit;
    }
    from += kAhead;
    load_ahead(list, from, length, keys);
    if (!any_lane(any)) continue;
#pragma unroll
    for (std::uint32_t i = 0; i < kAheadRows; ++i) {
      const bool enters = now[i] < limit;
      const std::uint32_t entering = ballot(enters);
      if (enters) waiting[count + count_bits(entering & lower_lanes)] = now[i].entry();
      count += count_bits(entering);
    }
    if (count <= capacity - kAhead) continue;
    sync_warp();
    limit = cut_list(waiting, count, k);
    count = k;
    sync_warp();
  }
  sync_warp();
  return count;
}

/// Holds the keys that may be among the k least of a list, which is not longer than HeldKeys::kMost if it is not kLong;
/// then nothing waits.
template <bool kLong = true, typename T>
__device__ __forceinline__ void hold_list(HeldKeys<T>& held, const Entry<T>* list, std::uint32_t length,
                                          std::uint32_t k, Entry<T>* waiting, std::uint32_t capacity) {
  if (!kLong || length <= HeldKeys<T>::kMost) {
    held.load(list, length);
  } else {
    held.load(waiting, let_wait(list, length, k, waiting, capacity));
  }
}

/// Writes the k least of a list to `to`, in any order, and none behind them, up to `end`. `to` may be the list.
template <typename T>
__device__ KITH_NOINLINE void select_list(const Entry<T>* list, std::uint32_t length, std::uint32_t k,
                                          Entry<T>* waiting, std::uint32_t capacity, Entry<T>* to, std::uint32_t end) {
  HeldKeys<T> held;
  hold_list(held, list, length, k, waiting, capacity);
  const std::uint32_t kept = held.select(k);
  held.put(to);
  for (std::uint32_t i = kept + lane_number(); i < end; i += kWarp) to[i] = Entry<T>::none();
}

}  // namespace kith::cuda
