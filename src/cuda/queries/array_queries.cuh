// The kernels for callers' arrays on the GPU: what array_types.hpp says of each task.
#pragma once

#include "core/query_row.hpp"
#include "core/metric/reported_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/array_types.hpp"
#include "cuda/queries/put_answer.cuh"

#include <limits>

namespace kith::cuda {

inline constexpr std::uint32_t kArrayThreads = 256;

/// Called: it would take registers from searches without radii of their own.
template <typename T>
__device__ KITH_NOINLINE T bound_of_radius(Metric metric, bool is_of_bits, double radius) {
  if (!(radius >= 0)) return T(-1);
  return is_of_bits ? T(core::whole_bound_of_radius(radius)) : core::reduced_bound_of_radius<T>(metric, radius);
}
template <typename T>
__device__ __forceinline__ T bound_of_row(const PrepareTask<T>& task, std::uint64_t row) {
  if (task.radii == nullptr) return task.bound;
  return bound_of_radius<T>(task.metric, task.bits != 0, task.radii[row]);
}

/// A thread per row.
template <typename T>
__global__ void __launch_bounds__(kArrayThreads) prepare_rows(const __grid_constant__ PrepareTask<T> task) {
  const std::uint32_t dims = task.map.searched_dims();
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < task.count;
       i += step) {
    const T bound = bound_of_row(task, i);
    if (task.rows == nullptr) {
      task.bounds[i] = bound;
      continue;
    }
    const T* from = task.rows + i * task.row_stride;
    T* to = task.prepared + i * dims;
    const bool is_good = task.map.takes(from);
    if (is_good) task.map.apply(from, to);
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (!is_good) to[d] = T(0);
      if (is_good && task.lengths != nullptr) to[d] = core::wrapped(to[d], task.lengths[d]);
    }
    task.bounds[i] = is_good ? bound : T(-1);
  }
}

/// Rows of bits, a thread per word of 32: their bytes, and zeros behind the last bit.
template <typename T>
__global__ void __launch_bounds__(kArrayThreads) prepare_bits(const __grid_constant__ PrepareTask<T> task) {
  const std::uint32_t words = (task.bits + 63) / 64 * 2, bytes = (task.bits + 7) / 8;
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < task.count * words;
       i += step) {
    const std::uint64_t row = i / words;
    const auto place = static_cast<std::uint32_t>(i % words);
    const auto* from = reinterpret_cast<const unsigned char*>(task.rows) + row * task.row_stride;
    std::uint32_t word = 0;
    for (std::uint32_t at = 4 * place; at < 4 * place + 4 && at < bytes; ++at) {
      const std::uint32_t behind = at + 1 == bytes ? 8 * bytes - task.bits : 0;  // bits of this byte that do not count
      word |= (from[at] >> behind << behind) << at % 4 * 8;
    }
    reinterpret_cast<std::uint32_t*>(task.prepared)[i] = word;
    if (place == 0) task.bounds[row] = bound_of_row(task, row);
  }
}

/// A thread per entry.
template <typename T>
__global__ void __launch_bounds__(kArrayThreads) report_entries(const __grid_constant__ ReportTask<T> task) {
  const std::uint64_t entries = task.entries_on_device == nullptr ? task.entries : *task.entries_on_device;
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < entries;
       i += step) {
    task.distances[i] = core::reported_distance(task.metric, task.squared, task.distances[i]);
  }
}

/// A thread per row.
template <typename T>
__global__ void __launch_bounds__(kArrayThreads) empty_bad_rows(const __grid_constant__ EmptyTask<T> task) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < task.rows;
       i += step) {
    if (!(task.bounds[i] < T(0))) continue;
    if (task.exact != nullptr) task.exact[i] = 1;
    for (std::uint32_t j = 0; j < task.k; ++j) {
      put_answer(task.answer, i * task.k + j, task.missing, std::numeric_limits<T>::infinity());
    }
  }
}

/// A thread per flag: bit i % 32 of half i / 32 is whether flags[i] is not 0. There are `halves` of 32 bits.
template <typename Flag>
__global__ void __launch_bounds__(kArrayThreads)
    pack_each(const Flag* flags, std::uint64_t count, std::uint32_t* packed, std::uint64_t halves) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < halves * kWarp;
       i += step) {
    const std::uint32_t bits = ballot(i < count && flags[i] != 0);
    if (lane_number() == 0) packed[i / kWarp] = bits;
  }
}

}  // namespace kith::cuda
