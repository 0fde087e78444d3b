// Selection by insertion: a thread per row keeps a sorted list of up to 32.
#pragma once

#include "cuda/primitives/entry_key.cuh"
#include "cuda/brute_force/select/select_row.cuh"
#include "cuda/brute_force/select/select_strategy.hpp"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kInsertionThreads = 64;

template <typename T>
__global__ void __launch_bounds__(kInsertionThreads) select_by_insertion(const __grid_constant__ SelectTask<T> task) {
  const std::uint64_t rows = rows_of(task);
  const std::uint64_t threads = std::uint64_t{blocks_in_grid()} * kInsertionThreads;
  for (std::uint64_t row = std::uint64_t{block_number()} * kInsertionThreads + thread_number(); row < rows;
       row += threads) {
    const SelectRow<T> opened = open_row(task, row, true);
    if (opened.is_skipped) continue;
    EntryKey<T> list[kMostByInsertion];
    for (std::uint32_t i = 0; i < task.k; ++i) list[i] = key_of_none<T>();
    EntryKey<T> last = key_of_none<T>();
    for (std::uint32_t from = 0; from < opened.length; from += 4) {
      EntryKey<T> keys[4];
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) keys[i] = load_key(opened.entries, from + i, opened.length);
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        if (!(keys[i] < last)) continue;
        std::uint32_t place = task.k - 1;
        for (; place > 0 && keys[i] < list[place - 1]; --place) list[place] = list[place - 1];
        list[place] = keys[i];
        last = list[task.k - 1];
      }
    }
    std::uint32_t kept = 0;
    while (kept < task.k && !is_none(list[kept])) ++kept;
    if (task.goal == SelectGoal::cut) {
      for (std::uint32_t i = 0; i < kept; ++i) opened.entries[i] = list[i].entry();
      note_cut(task, row, kept, last.entry());
      continue;
    }
    for (std::uint32_t i = 0; i < kept; ++i) put_answer(task, opened.answer + i, list[i].entry());
    for (std::uint32_t i = kept; i < task.k; ++i) put_missing(task, opened.answer + i);
  }
}

}  // namespace kith::cuda
