// The rows of a caller's array on the GPU, put side by side and looked through for what is not finite.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kTakeThreads = 256;

/// `to` may be null, if the rows are only looked through. `refused` becomes 1 if a coordinate is not finite.
template <typename T>
__global__ void __launch_bounds__(kTakeThreads) take_rows(const T* from, std::uint64_t row_stride, std::uint32_t dims,
                                                          std::uint64_t rows, T* to, std::uint32_t* refused) {
  const std::uint64_t values = rows * dims, step = std::uint64_t{blocks_in_grid()} * kTakeThreads;
  const bool is_dense = row_stride == dims;
  T spoilt = T(0);  // what is not finite makes the sum of zeros NaN
  for (std::uint64_t i = std::uint64_t{block_number()} * kTakeThreads + thread_number(); i < values; i += step) {
    const T value = from[is_dense ? i : i / dims * row_stride + i % dims];
    spoilt += value * T(0);
    if (to != nullptr) to[i] = value;
  }
  if (!(spoilt == T(0))) *refused = 1;
}

}  // namespace kith::cuda
