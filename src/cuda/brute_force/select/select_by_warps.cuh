// Selection by warps, one for each row.
//
// A row is read once. What a warp keeps of up to 512 entries is decided in registers (held_keys.cuh); of longer rows
// only what is below the k-th so far is looked at again.
#pragma once

#include "cuda/brute_force/select/select_list.cuh"
#include "cuda/brute_force/select/select_row.cuh"
#include "cuda/brute_force/select/select_strategy.hpp"
#include "cuda/primitives/sort_keys.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kSelectWarps = 4;  ///< of a block, a row each

/// The memory of a block by warps: bins of all, then what waits.
template <typename T>
struct WarpsStorage {
  std::uint32_t capacity = 0;  ///< entries for each warp
  std::uint32_t bytes = 0;

  WarpsStorage(const SelectTask<T>& task, std::uint32_t longest) {
    if (longest > HeldKeys<T>::kMost) {
      capacity = waiting_capacity(task.k);
    } else if (task.goal == SelectGoal::finish) {
      capacity = (task.k + kWarp - 1) / kWarp * kWarp;
    }
    bytes = kSelectWarps * (HeldKeys<T>::kBinBytes + capacity * static_cast<std::uint32_t>(sizeof(Entry<T>)));
  }
};

/// The answer of a row from the `kept` entries in `storage`, which may be used again then.
template <typename T>
__device__ KITH_NOINLINE void answer_by_warp(const SelectTask<T>& task, std::uint64_t answer, const Entry<T>* capacity,
                                             std::uint32_t kept) {
  sync_warp();
  sort_list_by_warp(capacity, kept,
                    [&](std::uint32_t i, const Entry<T>& entry) { put_answer(task, answer + i, entry); });
  for (std::uint32_t i = kept + lane_number(); i < task.k; i += kWarp) put_missing(task, answer + i);
  sync_warp();
}

/// The row's end by one warp, from a list of all that may be among the k least. The storage is for what waits, and for
/// k, if it is not a cut.
template <bool kLong = true, typename T>
__device__ __forceinline__ void end_row(const SelectTask<T>& task, std::uint64_t row, const SelectRow<T>& opened,
                                        const Entry<T>* list, std::uint32_t length, Entry<T>* waiting,
                                        std::uint32_t capacity) {
  HeldKeys<T> held;
  hold_list<kLong>(held, list, length, task.k, waiting, capacity);
  const std::uint32_t kept = held.select(task.k);
  if (task.goal != SelectGoal::cut) {
    held.put(waiting);
    return answer_by_warp(task, opened.answer, waiting, kept);
  }
  held.put(opened.entries);
  const EntryKey<T> last = kept == task.k ? held.last_selected() : key_of_none<T>();
  if (lane_number() == 0) note_cut(task, row, kept, last.entry());
}

/// kLong: rows may be longer than HeldKeys::kMost.
template <typename T, bool kLong>
__global__ void __launch_bounds__(kSelectWarps* kWarp, (sizeof(T) == 4 ? 8 : 5) - (kLong ? 1 : 0))
    select_by_warps(const __grid_constant__ SelectTask<T> task, std::uint32_t capacity) {
  auto* waiting =
      reinterpret_cast<Entry<T>*>(shared_memory() + kSelectWarps * HeldKeys<T>::kBinBytes) + warp_number() * capacity;
  HeldKeys<T>::clear_bins();
  const std::uint64_t rows = rows_of(task);
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * kSelectWarps;
  for (std::uint64_t row = std::uint64_t{block_number()} * kSelectWarps + warp_number(); row < rows; row += warps) {
    const SelectRow<T> opened = open_row(task, row, lane_number() == 0);
    if (opened.is_skipped) continue;
    end_row<kLong>(task, row, opened, opened.entries, opened.length, waiting, capacity);
  }
}

}  // namespace kith::cuda
