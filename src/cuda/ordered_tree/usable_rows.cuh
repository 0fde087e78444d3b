// Which rows have finite coordinates only, by number.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/primitives/sums_before.cuh"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Whether all coordinates of a row are finite.
template <typename T>
__device__ bool is_usable(const T* row, std::uint32_t dims) {
  T zero = 0;  // NaN unless all are finite
  for (std::uint32_t d = 0; d < dims; ++d) zero += row[d] * T(0);
  return zero == 0;
}

/// Adds the rows that cannot be used to `bad`.
template <typename T>
__global__ void __launch_bounds__(kSumThreads)
    count_unusable(const T* rows, std::uint64_t row_stride, std::uint32_t dims, std::uint32_t count,
                   std::uint32_t* bad) {
  std::uint32_t found = 0;
  for (std::uint64_t i = std::uint64_t{block_number()} * kSumThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kSumThreads) {
    found += is_usable(rows + i * row_stride, dims) ? 0 : 1;
  }
  if (found != 0) atomic_add(bad, found);
}

/// flags[i] is 1 if row i can be used, else 0.
template <typename T>
__global__ void __launch_bounds__(kSumThreads) flag_usable(const T* rows, std::uint64_t row_stride, std::uint32_t dims,
                                                           std::uint32_t count, std::uint32_t* flags) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kSumThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kSumThreads) {
    flags[i] = is_usable(rows + i * row_stride, dims) ? 1 : 0;
  }
}

/// `before` are sums of flags, one more than rows: the rows whose flag was 1, in order.
template <typename V>
__global__ void __launch_bounds__(kSumThreads) list_usable(const V* before, std::uint32_t count, std::uint32_t* rows) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kSumThreads + thread_number(); i < count;
       i += std::uint64_t{blocks_in_grid()} * kSumThreads) {
    if (before[i + 1] != before[i]) rows[before[i]] = static_cast<std::uint32_t>(i);
  }
}

/// Writes the numbers of usable rows, ascending, unless all are, and returns how many there are. `flags` has one entry
/// more than there are rows, `sums` sum_tiles_of(count) + 1. Waits.
template <typename T, typename Device>
std::uint32_t list_usable_rows(Device& device, const T* rows, std::uint64_t row_stride, std::uint32_t dims,
                               std::uint32_t count, std::uint32_t* flags, std::uint32_t* sums, std::uint32_t* numbers) {
  const std::uint64_t all = (std::uint64_t{count} + kSumThreads - 1) / kSumThreads;
  const auto blocks = static_cast<std::uint32_t>(all < device.resident_blocks() ? all : device.resident_blocks());
  std::uint32_t bad = 0;
  device.zero(flags, sizeof bad);
  device.launch(count_unusable<T>, blocks, kSumThreads, 0, rows, row_stride, dims, count, flags);
  device.read(&bad, flags, sizeof bad);
  if (bad == 0) return count;
  device.launch(flag_usable<T>, blocks, kSumThreads, 0, rows, row_stride, dims, count, flags);
  launch_sums_before(flags, count, sums, flags, true,
                     [&](auto kernel, std::uint32_t tiles, std::uint32_t threads, std::size_t shared,
                         auto... arguments) { device.launch(kernel, tiles, threads, shared, arguments...); });
  device.launch(list_usable<std::uint32_t>, blocks, kSumThreads, 0, static_cast<const std::uint32_t*>(flags), count,
                numbers);
  std::uint32_t usable = 0;
  device.read(&usable, flags + count, sizeof usable);
  return usable;
}

}  // namespace kith::cuda
