// Reduced distances of scans: their ends.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

/// The ends of the reduced distances of a thread.
template <typename M, typename T, std::uint32_t kRows, std::uint32_t kWidth>
__device__ __forceinline__ void finish_sums(T (&reduced)[kRows][kWidth]) {
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) reduced[i][j] = core::finish_sum(M{}, reduced[i][j]);
  }
}

}  // namespace kith::cuda
