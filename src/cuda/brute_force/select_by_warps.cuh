// Selection by warps: one for each row, or a team of them if rows are few and long.
//
// A row is read once. What a warp keeps of up to 512 entries is decided in registers (held_keys.cuh); of longer rows
// only what is below the k-th so far is looked at again.
#pragma once

#include "cuda/brute_force/select_list.cuh"
#include "cuda/brute_force/select_row.cuh"
#include "cuda/brute_force/select_strategy.hpp"
#include "cuda/brute_force/sort_keys.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kSelectWarps = 4;  ///< of a block, a row each

/// The memory of a block by warps: bins of all, then what waits.
template <typename T>
struct WarpsRoom {
  std::uint32_t room = 0;  ///< entries for each warp
  std::uint32_t bytes = 0;

  WarpsRoom(const SelectTask<T>& task, std::uint32_t longest) {
    if (longest > HeldKeys<T>::kMost) {
      room = waiting_room(task.k);
    } else if (task.goal == SelectGoal::finish) {
      room = (task.k + kWarp - 1) / kWarp * kWarp;
    }
    bytes = kSelectWarps * (HeldKeys<T>::kBinBytes + room * static_cast<std::uint32_t>(sizeof(Entry<T>)));
  }
};

/// The row's end by one warp, from a list of all that may be among the k least. `room` has place for k, if it is not a
/// cut.
template <typename T>
__device__ __forceinline__ void answer_by_warp(const SelectTask<T>& task, std::uint64_t row, const SelectRow<T>& opened,
                                               ListSelection<T>& selection, const Entry<T>* list, std::uint32_t length,
                                               Entry<T>* room) {
  const bool is_cut = task.goal == SelectGoal::cut;
  const std::uint32_t kept = selection.select(list, length, task.k, is_cut ? opened.entries : room);
  if (is_cut) {
    const EntryKey<T> last = kept == task.k ? selection.last() : key_of_none<T>();
    if (lane_number() == 0) note_cut(task, row, kept, last.entry());
    return;
  }
  sync_warp();
  sort_list_by_warp(room, kept,
                    [&](std::uint32_t i, const Entry<T>& entry) { put_answer(task, opened.answer + i, entry); });
  for (std::uint32_t i = kept + lane_number(); i < task.k; i += kWarp) put_missing(task, opened.answer + i);
  sync_warp();  // before the room is used again
}

template <typename T>
__global__ void __launch_bounds__(kSelectWarps* kWarp, sizeof(T) == 4 ? 8 : 5)
    select_by_warps(const __grid_constant__ SelectTask<T> task, std::uint32_t room) {
  auto* waiting =
      reinterpret_cast<Entry<T>*>(shared_memory() + kSelectWarps * HeldKeys<T>::kBinBytes) + warp_number() * room;
  HeldKeys<T>::clear_bins();
  const std::uint64_t rows = rows_of(task);
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * kSelectWarps;
  for (std::uint64_t row = std::uint64_t{block_number()} * kSelectWarps + warp_number(); row < rows; row += warps) {
    const SelectRow<T> opened = open_row(task, row, lane_number() == 0);
    if (opened.is_skipped) continue;
    ListSelection<T> selection(waiting, room);
    answer_by_warp(task, row, opened, selection, opened.entries, opened.length, waiting);
  }
}

/// A team: as many warps as have memory, in a block. Each selects from a part of the row, the first one from what they
/// found.
template <typename T>
struct TeamRoom {
  static constexpr std::uint32_t kMostWarps = sizeof(T) == 4 ? 32 : 16;
  std::uint32_t warps = 0;
  std::uint32_t room = 0;     ///< for each warp: 0 if its part is short
  std::uint32_t at_last = 0;  ///< for the first one: then k, or what waits
  std::uint32_t bytes = 0;

  TeamRoom(const SelectTask<T>& task, std::uint32_t longest) {
    constexpr std::uint32_t kMostBytes = 48 << 10;
    at_last = waiting_room(task.k);
    for (warps = kMostWarps; warps > 2; warps /= 2) {
      room = longest <= warps * HeldKeys<T>::kMost ? 0 : waiting_room(task.k);
      bytes = warps * HeldKeys<T>::kBinBytes +
              (warps * (room + task.k) + at_last) * static_cast<std::uint32_t>(sizeof(Entry<T>));
      if (bytes <= kMostBytes) return;
    }
  }
};

template <typename T>
__global__ void __launch_bounds__(TeamRoom<T>::kMostWarps* kWarp, 1)
    select_by_teams(const __grid_constant__ SelectTask<T> task, std::uint32_t room, std::uint32_t at_last) {
  const std::uint32_t warps = threads_per_block() / kWarp;
  auto* rooms = reinterpret_cast<Entry<T>*>(shared_memory() + warps * HeldKeys<T>::kBinBytes);
  Entry<T>* found = rooms + warps * room;
  Entry<T>* end_room = found + warps * task.k;
  HeldKeys<T>::clear_bins();
  const std::uint64_t rows = rows_of(task);
  for (std::uint64_t row = block_number(); row < rows; row += blocks_in_grid()) {
    const SelectRow<T> opened = open_row(task, row, thread_number() == 0);
    if (opened.is_skipped) continue;
    const std::uint32_t part = ((opened.length + warps - 1) / warps + kWarp - 1) / kWarp * kWarp;
    const std::uint32_t begin = warp_number() * part < opened.length ? warp_number() * part : opened.length;
    const std::uint32_t length = opened.length - begin < part ? opened.length - begin : part;
    Entry<T>* own = found + warp_number() * task.k;
    ListSelection<T> selection(rooms + warp_number() * room, room);
    const std::uint32_t kept = selection.select(opened.entries + begin, length, task.k, own);
    for (std::uint32_t i = kept + lane_number(); i < task.k; i += kWarp) own[i] = Entry<T>::none();
    sync_block();
    if (warp_number() == 0) {
      ListSelection<T> last(end_room, at_last);
      answer_by_warp(task, row, opened, last, found, warps * task.k, end_room);
    }
    sync_block();
  }
}

}  // namespace kith::cuda
