// Keys of rows: by score, by hash, by one coordinate. -0 counts as +0.
#pragma once

#include "core/order/ordered_bits.hpp"
#include "cuda/dedupe/equal_types.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/primitives/sort_pairs.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kith::cuda {

inline constexpr std::uint32_t kEqualThreads = 256;
/// Rows of more dims are read by a warp each, of fewer by a thread each.
inline constexpr std::uint32_t kMostDimsOfThread = 16;

/// The bits of a coordinate; equal for equal ones.
template <typename T>
__device__ __forceinline__ std::uint64_t bits_of(T coordinate) {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Word>(coordinate + T(0));  // turns -0 into +0 and nothing else
}

/// What coordinate d adds to the hash of its row. Sums do not depend on the order, so lanes may share a row.
__device__ __forceinline__ std::uint64_t hash_of(std::uint64_t bits, std::uint32_t d) {
  std::uint64_t word = bits + (d + 1) * std::uint64_t{0x9E3779B97F4A7C15};
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
  return word ^ (word >> 31);
}

/// Calls work(i) for each i below count, in whole warps: i may be beyond for the last ones.
template <typename Work>
__device__ __forceinline__ void for_each_of_grid(std::uint32_t count, Work&& work) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kEqualThreads;
  const std::uint64_t own = std::uint64_t{block_number()} * kEqualThreads + thread_number();
  for (std::uint64_t i = own; i - lane_number() < count; i += step) work(i);
}

/// Keys in the order of the loop, the best score first, and the numbers of rows. A thread per row.
template <typename T>
__global__ void __launch_bounds__(kEqualThreads) score_keys(const __grid_constant__ EqualTask<T> task, SortPairs out) {
  for_each_of_grid(task.count, [&](std::uint64_t i) {
    if (i >= task.count) return;
    const std::uint64_t ascending = core::ordered_bits(task.scores[i] + 0.0);
    out.keys[i] = task.prefer_low ? ascending : ~ascending;
    out.values[i] = static_cast<std::uint32_t>(i);
  });
}

/// The key of one row, by a thread or, with kLanes = 32, by a warp.
template <std::uint32_t kLanes, typename T>
__device__ __forceinline__ std::uint64_t key_of_row(const EqualTask<T>& task, std::uint64_t row) {
  const T* values = task.rows + row * task.row_stride;
  std::uint64_t hash = 0;
  T zero = 0;  // NaN unless all are finite
  for (std::uint32_t d = kLanes == 1 ? 0 : lane_number(); d < task.dims; d += kLanes) {
    const T value = values[d];
    zero += value * T(0);
    hash += hash_of(bits_of(value), d);
  }
  bool is_good = zero == T(0);
  if constexpr (kLanes > 1) {
    for (std::uint32_t step = kLanes / 2; step > 0; step /= 2) hash += shuffle_xor(hash, step);
    is_good = !any_lane(!is_good);
  }
  if (task.scores != nullptr && task.scores[row] != task.scores[row]) is_good = false;
  return is_good ? (hash & task.hash_mask) >> 1 : kBadKey;
}

/// Keys by hash of rows in the order of `pairs.values`, or else (`is_ordered` is false) by number, which is written
/// there. `kept` is 1 for each row that can be used.
template <std::uint32_t kLanes, typename T>
__global__ void __launch_bounds__(kEqualThreads) hash_keys(const __grid_constant__ EqualTask<T> task, SortPairs pairs,
                                                           bool is_ordered, std::uint32_t* kept, EqualReport* report) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kEqualThreads / kLanes;
  const std::uint64_t own = (std::uint64_t{block_number()} * kEqualThreads + thread_number()) / kLanes;
  const std::uint32_t lane_of_row = thread_number() % kLanes, lane_of_first = lane_number() / kLanes;
  for (std::uint64_t i = own; i - lane_of_first < task.count; i += step) {
    const bool is_there = i < task.count;  // if not, the last row once more
    const std::uint64_t at = is_there ? i : task.count - 1;
    const std::uint32_t row = is_ordered ? pairs.values[at] : static_cast<std::uint32_t>(at);
    const std::uint64_t key = key_of_row<kLanes>(task, row);
    const bool counts = is_there && lane_of_row == 0;
    if (counts) {
      pairs.keys[i] = key;
      if (!is_ordered) pairs.values[i] = row;
      kept[row] = key == kBadKey ? 0 : 1;
    }
    const std::uint32_t bad = ballot(counts && key == kBadKey);
    if (bad == 0) continue;
    if (counts && key == kBadKey) atomic_max(&report->first_bad_bits, ~row);
    if (lane_number() == 0) atomic_add(&report->bad, count_bits(bad));
  }
}

/// Keys by one coordinate of rows in the order of `pairs.values`; all of them can be used. A thread per row.
template <typename T>
__global__ void __launch_bounds__(kEqualThreads)
    coordinate_keys(const __grid_constant__ EqualTask<T> task, std::uint32_t d, std::uint32_t count, SortPairs pairs) {
  for_each_of_grid(count, [&](std::uint64_t i) {
    if (i < count) pairs.keys[i] = bits_of(task.rows[pairs.values[i] * task.row_stride + d]);
  });
}

}  // namespace kith::cuda
