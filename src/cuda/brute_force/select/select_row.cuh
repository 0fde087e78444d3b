// A row of a selection: where it lies, whether it overflowed, and where its answer goes.
#pragma once

#include "cuda/brute_force/select/select_types.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/put_answer.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

template <typename T>
__device__ __forceinline__ std::uint64_t rows_of(const SelectTask<T>& task) {
  if (task.row_count == nullptr) return task.rows;
  const std::uint64_t counted = *task.row_count;
  return counted < task.rows ? counted : task.rows;
}

template <typename T>
struct SelectRow {
  Entry<T>* entries;
  std::uint64_t answer;  ///< where the answer begins
  std::uint32_t length;
  bool is_skipped;
};

/// For all threads that work on the row; `is_first` is true for one of them. Notes that the row failed.
template <typename T>
__device__ __forceinline__ SelectRow<T> open_row(const SelectTask<T>& task, std::uint64_t row, bool is_first) {
  const std::uint64_t to = task.answer_of(row);
  SelectRow<T> opened{task.entries + row * task.capacity, to * task.k, task.length, false};
  if (opened.length == 0) {
    const std::uint32_t count = task.counts == nullptr ? task.capacity : task.counts[row];
    opened.length = count < task.capacity ? count : task.capacity;
    if (count > task.capacity && task.failed != nullptr) {
      opened.is_skipped = true;
      if (is_first && task.is_failed[row] == 0) {
        task.is_failed[row] = 1;
        task.failed[atomic_add(task.failed_count, 1u)] = static_cast<std::uint32_t>(to);
        if (task.limits != nullptr) task.limits[row] = Entry<T>::first();  // nothing more is offered
        if (task.kept != nullptr) task.kept[row] = task.capacity;
      }
      return opened;
    }
  }
  opened.is_skipped = task.goal != SelectGoal::cut && task.failed != nullptr && task.is_failed[row] != 0;
  return opened;
}

/// By one thread: the end of a cut that left `kept`, the last of which is `last`.
template <typename T>
__device__ __forceinline__ void note_cut(const SelectTask<T>& task, std::uint64_t row, std::uint32_t kept,
                                         const Entry<T>& last) {
  if (task.counts != nullptr) task.counts[row] = kept;
  if (task.kept != nullptr) task.kept[row] = kept;
  if (task.limits != nullptr && kept == task.k && last < task.limits[row]) task.limits[row] = last;
}

template <typename T>
__device__ __forceinline__ void put_answer(const SelectTask<T>& task, std::uint64_t at, const Entry<T>& entry) {
  put_answer<T>(task.answer, at, entry.number(), entry.reduced());
}

/// A place of the answer for which nothing was found.
template <typename T>
__device__ __forceinline__ void put_missing(const SelectTask<T>& task, std::uint64_t at) {
  put_answer<T>(task.answer, at, task.missing, std::numeric_limits<T>::infinity());
}

}  // namespace kith::cuda
