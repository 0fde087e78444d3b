// The k least of a list of any length, by one warp: what may still be among them waits in shared memory.
#pragma once

#include "cuda/brute_force/held_keys.cuh"

#include <cstdint>

namespace kith::cuda {

/// Entries that a warp loads at once.
inline constexpr std::uint32_t kAheadRows = 4;
inline constexpr std::uint32_t kAhead = kAheadRows * kWarp;

/// How many entries wait while more come; `k` <= kMostByWarps.
inline constexpr std::uint32_t waiting_room(std::uint32_t k) { return k <= 128 ? 256 : 512; }

/// Leaves the k least of up to HeldKeys::kMost entries at the front of a list, at least k of which are not none.
/// Returns the last of them.
template <typename T>
__device__ KITH_NOINLINE EntryKey<T> cut_list(Entry<T>* list, std::uint32_t length, std::uint32_t k) {
  HeldKeys<T> held;
  held.load(list, length);
  held.select(k, list);
  return held.last_selected();
}

/// A warp's room in shared memory is as above. Lists of up to HeldKeys::kMost need none.
template <typename T>
class ListSelection {
 public:
  __device__ ListSelection(Entry<T>* waiting, std::uint32_t room) : waiting_(waiting), room_(room) {}

  /// Writes the k least of a list to `to`, in any order, and returns how many they are. `to` may be the list or the
  /// room. The list is read by all lanes before it is written.
  __device__ __forceinline__ std::uint32_t select(const Entry<T>* list, std::uint32_t length, std::uint32_t k,
                                                  Entry<T>* to) {
    if (length <= HeldKeys<T>::kMost) {
      held_.load(list, length);
    } else {
      const std::uint32_t waiting = let_wait(list, length, k);
      sync_warp();
      held_.load(waiting_, waiting);
    }
    return held_.select(k, to);
  }
  /// The greatest that was selected.
  __device__ __forceinline__ EntryKey<T> last() { return held_.last_selected(); }

 private:
  __device__ __forceinline__ void load(const Entry<T>* list, std::uint32_t from, std::uint32_t length,
                                       EntryKey<T> (&keys)[kAheadRows]) {
#pragma unroll
    for (std::uint32_t i = 0; i < kAheadRows; ++i) keys[i] = load_key(list, from + i * kWarp + lane_number(), length);
  }

  /// All that may be among the k least are in the room then; returns how many they are.
  __device__ __forceinline__ std::uint32_t let_wait(const Entry<T>* list, std::uint32_t length, std::uint32_t k) {
    EntryKey<T> limit = key_of_none<T>();
    EntryKey<T> keys[kAheadRows];
    load(list, 0, length, keys);
    const std::uint32_t lower_lanes = (1u << lane_number()) - 1;
    std::uint32_t waiting = 0;
    for (std::uint32_t from = 0; from < length;) {
      EntryKey<T> now[kAheadRows];
      bool enters[kAheadRows];
      bool any = false;
#pragma unroll
      for (std::uint32_t i = 0; i < kAheadRows; ++i) {
        now[i] = keys[i];
        enters[i] = now[i] < limit;
        any = any || enters[i];
      }
      from += kAhead;
      load(list, from, length, keys);
      if (!any_lane(any)) continue;
#pragma unroll
      for (std::uint32_t i = 0; i < kAheadRows; ++i) {
        const std::uint32_t entering = ballot(enters[i]);
        if (enters[i]) waiting_[waiting + count_bits(entering & lower_lanes)] = now[i].entry();
        waiting += count_bits(entering);
      }
      if (waiting <= room_ - kAhead) continue;
      sync_warp();
      limit = cut_list(waiting_, waiting, k);
      waiting = k;
      sync_warp();
    }
    return waiting;
  }

  HeldKeys<T> held_;
  Entry<T>* waiting_;
  std::uint32_t room_;
};

}  // namespace kith::cuda
