// Selection by sorting: a block per row, any k.
#pragma once

#include "cuda/brute_force/select/block_select.cuh"

#include <cstdint>

namespace kith::cuda {

/// Sorts a row in shared memory, or, if it is longer, part by part with the k least of those before; if k is too large
/// for that, where it lies. Returns where the k least are.
template <typename T>
__device__ __forceinline__ Entry<T>* sort_row(BlockStorage<T>& storage, Entry<T>* list, std::uint32_t length,
                                              std::uint32_t k) {
  constexpr std::uint32_t kCapacity = BlockStorage<T>::kEntries;
  if (length <= kCapacity || k > kCapacity / 2) return sort_front(storage, list, length);
  std::uint32_t held = 0;
  for (std::uint32_t from = 0; from < length;) {
    const std::uint32_t part = length - from < kCapacity - held ? length - from : kCapacity - held;
    copy_by_block(storage.entries + held, list + from, part);
    from += part;
    sync_block();
    sort_by_block(storage.entries, held + part);
    held = held + part < k ? held + part : k;
  }
  return storage.entries;
}

template <typename T>
__global__ void __launch_bounds__(kSelectThreads, 2) select_by_sorting(const __grid_constant__ SelectTask<T> task) {
  auto& storage = *reinterpret_cast<BlockStorage<T>*>(shared_memory());
  each_row_of_block(task, [&](std::uint64_t row, const SelectRow<T>& opened) {
    const Entry<T>* sorted = sort_row(storage, opened.entries, opened.length, task.k);
    const std::uint32_t most = task.k < opened.length ? task.k : opened.length;
    std::uint32_t own = 0;
    for (std::uint32_t i = thread_number(); i < most; i += kSelectThreads) own += sorted[i].is_none() ? 0 : 1;
    const std::uint32_t kept = sum_in_block(storage, own).all;
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

}  // namespace kith::cuda
