// A look at what a caller says of the points, and the numbers that bound searches.
#pragma once

#include "core/query_row.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/labels/label_types.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t kLookThreads = 256;

__device__ __forceinline__ bool is_good(std::uint32_t code, std::uint32_t classes) { return code < classes; }
__device__ __forceinline__ bool is_good(double value, std::uint32_t) { return core::all_finite(&value, 1); }

/// Notes the first code that is not below `classes`, or the first value that is not finite.
template <typename V>
__global__ void __launch_bounds__(kLookThreads)
    look_for_bad(const V* values, std::uint64_t count, std::uint32_t classes, LabelReport* report) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kLookThreads;
  for (std::uint64_t i = std::uint64_t{block_number()} * kLookThreads + thread_number(); i < count; i += step) {
    if (is_good(values[i], classes)) continue;
    atomic_min(&report->first_bad, i);
    return;  // those of this thread that follow come later
  }
}

/// numbers[i] = first + i
template <typename Number>
__global__ void __launch_bounds__(kLookThreads) count_up(Number* numbers, std::uint64_t count, Number first) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * kLookThreads;
  for (std::uint64_t i = std::uint64_t{block_number()} * kLookThreads + thread_number(); i < count; i += step) {
    numbers[i] = first + static_cast<Number>(i);
  }
}

}  // namespace kith::cuda
