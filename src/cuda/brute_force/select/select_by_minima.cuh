// Selection one by one: a block per row finds the least entry behind the one before, k times.
#pragma once

#include "cuda/brute_force/select/block_select.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename T>
__global__ void __launch_bounds__(kSelectThreads, 2) select_by_minima(const __grid_constant__ SelectTask<T> task) {
  auto& storage = *reinterpret_cast<BlockStorage<T>*>(shared_memory());
  each_row_of_block(task, [&](std::uint64_t row, const SelectRow<T>& opened) {
    const bool is_cut = task.goal == SelectGoal::cut;
    EntryKey<T> last = key_of_bits<T>(0);
    std::uint32_t found = 0;
    for (; found < task.k; ++found) {
      EntryKey<T> least = key_of_none<T>();
      each_in_block(opened.entries, opened.length, [&](const EntryKey<T>& key) {
        if (key < least && (found == 0 || last < key)) least = key;
      });
      least = extreme_in_block<true>(storage, least);
      if (is_none(least)) break;
      last = least;
      if (!is_cut && thread_number() == 0) put_answer(task, opened.answer + found, least.entry());
    }
    if (is_cut) {
      EntryKey<T> greatest = last;
      if (found > 0) move_to_front(storage, opened.entries, opened.length, last, greatest);
      if (thread_number() == 0) note_cut(task, row, found, greatest.entry());
      return;
    }
    for (std::uint32_t i = found + thread_number(); i < task.k; i += kSelectThreads) {
      put_missing(task, opened.answer + i);
    }
  });
}

}  // namespace kith::cuda
