// Loads a subtree into the shared memory of the block that finishes it.
#pragma once

#include "cuda/kd_tree/build/finish/finish_team.cuh"

namespace kith::cuda {

/// The points of a subtree that a thread loads: those in the slots thread + k * threads, k < kRows.
template <std::uint32_t kRows, std::uint32_t kThreads>
struct LoadedRows {
  std::uint32_t thread = thread_number();
  std::uint32_t threads = kThreads > 0 ? kThreads : threads_per_block();
  std::uint32_t count = 0;  ///< points of the subtree

  __device__ __forceinline__ explicit LoadedRows(std::uint32_t points) : count(points) {}
  __device__ __forceinline__ std::uint32_t slot(std::uint32_t k) const { return thread + k * threads; }
  __device__ __forceinline__ bool has(std::uint32_t k) const { return is_sure<kRows>(k) || slot(k) < count; }
  __device__ __forceinline__ bool is_full(std::uint32_t k) const {
    return is_sure<kRows>(k) || (k + 1) * threads <= count;
  }
};

/// Where coordinates come from. With many rows a group of levels came before: those of a dimension lie side by side.
template <std::uint32_t kRows, typename T>
__device__ __forceinline__ std::uint64_t stride_between_points(const FinishParameters<T>& given) {
  return kRows > kFewRows ? 1 : given.source.row_stride;
}

/// Copies the coordinates; they are there after wait_for_copies and a barrier. All copies are in flight together.
template <std::uint32_t kRows, std::uint32_t kThreads, typename T>
__device__ __forceinline__ void copy_coordinates(const Subtree<T, true>& subtree,
                                                 const LoadedRows<kRows, kThreads>& rows) {
  const FinishParameters<T>& given = subtree.given;
  const std::uint64_t stride = stride_between_points<kRows>(given), step = rows.threads * stride;
  const T* column = given.source.values + (subtree.base + rows.thread) * stride;
  T* to = subtree.values + rows.thread;
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d, column += given.source.dim_stride, to += given.capacity) {
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) {
      if (rows.has(k)) {
        copy_to_shared(to + k * rows.threads, column + k * step);
      } else {
        to[k * rows.threads] = T(0);
      }
    }
  }
}

/// Loads the coordinates if they are staged; returns whether one of this thread's is not finite.
template <std::uint32_t kRows, std::uint32_t kThreads, typename T, bool kStaged>
__device__ __forceinline__ bool load_and_check(const Subtree<T, kStaged>& subtree,
                                               const LoadedRows<kRows, kThreads>& rows) {
  const FinishParameters<T>& given = subtree.given;
  const std::uint64_t stride = stride_between_points<kRows>(given), step = rows.threads * stride;
  const T* column = given.source.values + (subtree.base + rows.thread) * stride;
  bool is_bad = false;
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d, column += given.source.dim_stride) {
    T value[kRows];
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) value[k] = rows.has(k) ? column[k * step] : T(0);  // all in flight
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) {
      if constexpr (kStaged) subtree.values[d * given.capacity + rows.slot(k)] = value[k];
      is_bad = is_bad || !(value[k] - value[k] == T(0));
    }
  }
  return is_bad;
}

/// Copies the indices, as copy_coordinates does, and puts the slots in order.
template <std::uint32_t kRows, std::uint32_t kThreads, typename T, bool kStaged>
__device__ __forceinline__ void copy_indices(const Subtree<T, kStaged>& subtree,
                                             const LoadedRows<kRows, kThreads>& rows) {
  const std::uint32_t* indices = subtree.given.source.indices;
  const bool has_indices = kRows > kFewRows || indices != nullptr, is_arranged = subtree.given.is_arranged;
  if (has_indices) {
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) {
      if (rows.has(k)) copy_to_shared(subtree.indices + rows.slot(k), indices + subtree.base + rows.slot(k));
    }
  }
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t slot = rows.slot(k);
    if (!has_indices || !rows.has(k)) subtree.indices[slot] = static_cast<std::uint32_t>(subtree.base) + slot;
    // Rows that are full are turned, each by more: the points that a thread begins with lie in different banks, and so
    // do those that it puts next to each other.
    constexpr std::uint32_t kTurn = 11;
    const std::uint32_t turned = k * rows.threads + ((rows.thread + k * kTurn) & (rows.threads - 1));
    subtree.order[slot] = static_cast<std::uint16_t>(rows.is_full(k) && !is_arranged ? turned : rows.has(k) ? slot : 0);
  }
}

/// True if the block has to stop: an earlier step found bad points, or this block does. Loads the points.
template <std::uint32_t kRows, std::uint32_t kThreads, typename T, bool kStaged>
__device__ __forceinline__ bool load_subtree(const Subtree<T, kStaged>& subtree) {
  const FinishParameters<T>& given = subtree.given;
  const LoadedRows<kRows, kThreads> rows(subtree.count);
  copy_indices(subtree, rows);
  const bool looks_for_bad = kRows <= kFewRows && given.looks_for_bad;
  bool stops = false;
  if (looks_for_bad) {
    stops = load_and_check(subtree, rows);
  } else {
    stops = rows.thread == 0 && load_fresh(given.refused) != 0;
    if constexpr (kStaged) copy_coordinates(subtree, rows);
  }
  clear_counters(subtree);
  if (subtree.levels > 0 && !subtree.is_tight(0)) {
    const T* box = given.cut_boxes + subtree.number * 2 * subtree.dims;
    for (std::uint32_t i = rows.thread; i < 2 * subtree.dims; i += rows.threads) subtree.team_box(0, 0)[i] = box[i];
  }
  wait_for_copies();
  stops = any_thread(stops);
  if (looks_for_bad && rows.thread == 0) *given.refused = stops ? 1 : 0;
  return stops;
}

}  // namespace kith::cuda
