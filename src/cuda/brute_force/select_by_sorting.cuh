// Selection by sorting: a block per row, any k; and whole lists sorted.
#pragma once

#include "cuda/brute_force/block_select.cuh"
#include "cuda/brute_force/sort_keys.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Sorts a row in shared memory, or, if it is longer, part by part with the k least of those before; if k is too large
/// for that, where it lies. Returns where the k least are.
template <typename T>
__device__ __forceinline__ Entry<T>* sort_row(BlockRoom<T>& room, Entry<T>* list, std::uint32_t length,
                                              std::uint32_t k) {
  constexpr std::uint32_t kRoom = BlockRoom<T>::kEntries;
  if (length <= kRoom || k > kRoom / 2) return sort_front(room, list, length);
  std::uint32_t held = 0;
  for (std::uint32_t from = 0; from < length;) {
    const std::uint32_t part = length - from < kRoom - held ? length - from : kRoom - held;
    copy_by_block(room.entries + held, list + from, part);
    from += part;
    sync_block();
    sort_by_block(room.entries, held + part);
    held = held + part < k ? held + part : k;
  }
  return room.entries;
}

template <typename T>
__global__ void __launch_bounds__(kSelectThreads, 2) select_by_sorting(const __grid_constant__ SelectTask<T> task) {
  auto& room = *reinterpret_cast<BlockRoom<T>*>(shared_memory());
  each_row_of_block(task, [&](std::uint64_t row, const SelectRow<T>& opened) {
    const Entry<T>* sorted = sort_row(room, opened.entries, opened.length, task.k);
    const std::uint32_t most = task.k < opened.length ? task.k : opened.length;
    std::uint32_t own = 0;
    for (std::uint32_t i = thread_number(); i < most; i += kSelectThreads) own += sorted[i].is_none() ? 0 : 1;
    const std::uint32_t kept = sum_in_block(room, own).all;
    if (task.goal == SelectGoal::cut) {
      if (sorted != opened.entries) copy_by_block(opened.entries, sorted, kept);
      if (thread_number() == 0 && kept > 0) note_cut(task, row, kept, sorted[kept - 1]);
      if (thread_number() == 0 && kept == 0) note_cut(task, row, kept, Entry<T>::none());
    } else {
      answer_by_block(task, opened, sorted, kept);
    }
    sync_block();
  });
}

inline constexpr std::uint32_t kSortThreads = 128;

/// Short lists, a warp for each.
template <typename T>
__global__ void __launch_bounds__(kSortThreads) sort_by_warps(const __grid_constant__ SelectTask<T> task) {
  const std::uint64_t rows = rows_of(task);
  const std::uint64_t warps = std::uint64_t{blocks_in_grid()} * (kSortThreads / kWarp);
  for (std::uint64_t row = std::uint64_t{block_number()} * (kSortThreads / kWarp) + warp_number(); row < rows;
       row += warps) {
    const SelectRow<T> opened = open_row(task, row, lane_number() == 0);
    if (opened.is_skipped || opened.length > kMostSortedByWarp) continue;
    sort_list_by_warp(opened.entries, opened.length,
                      [&](std::uint32_t i, const Entry<T>& entry) { put_answer(task, opened.answer + i, entry); });
  }
}

template <typename T>
struct SortRoom : BlockRoom<T> {
  std::uint32_t long_rows[kSelectThreads];
  std::uint32_t count;
};

/// The others. A block looks for them among `group` <= kSelectThreads rows, and sorts one after the other.
template <typename T>
__global__ void __launch_bounds__(kSelectThreads, 2)
    sort_by_blocks(const __grid_constant__ SelectTask<T> task, std::uint32_t group) {
  auto& room = *reinterpret_cast<SortRoom<T>*>(shared_memory());
  const std::uint64_t rows = rows_of(task);
  for (std::uint64_t first = std::uint64_t{block_number()} * group; first < rows;
       first += std::uint64_t{blocks_in_grid()} * group) {
    if (thread_number() == 0) room.count = 0;
    sync_block();
    if (thread_number() < group && first + thread_number() < rows) {
      const SelectRow<T> opened = open_row(task, first + thread_number(), false);
      if (!opened.is_skipped && opened.length > kMostSortedByWarp) {
        room.long_rows[atomic_add(&room.count, 1u)] = thread_number();
      }
    }
    sync_block();
    const std::uint32_t count = room.count;
    for (std::uint32_t i = 0; i < count; ++i) {
      const SelectRow<T> opened = open_row(task, first + room.long_rows[i], false);
      answer_by_block(task, opened, sort_front(room, opened.entries, opened.length), opened.length);
      sync_block();
    }
    sync_block();
  }
}

}  // namespace kith::cuda
