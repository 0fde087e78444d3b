// Points of few dims that lie side by side in memory, read by vectors.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/brute_force/scan/tile_shape.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// kRows rows of kDims values, in registers.
template <typename T, std::uint32_t kDims, std::uint32_t kRows>
struct RowsInVectors {
  static constexpr std::uint32_t kWidth = ScanVector<T>::kWidth;
  static constexpr std::uint32_t kVectors = kRows * kDims / kWidth;
  static_assert(kRows % kWidth == 0);

  ScanVector<T> vectors[kVectors];

  __device__ __forceinline__ T value(std::uint32_t row, std::uint32_t d) const {
    return vectors[(row * kDims + d) / kWidth].values[(row * kDims + d) % kWidth];
  }
  /// `from` is aligned to vectors.
  __device__ __forceinline__ void load(const T* from) {
#pragma unroll
    for (std::uint32_t v = 0; v < kVectors; ++v) vectors[v] = reinterpret_cast<const ScanVector<T>*>(from)[v];
  }
  /// Only the first `values` exist; the others become 0.
  __device__ __forceinline__ void load_some(const T* from, std::uint64_t values) {
#pragma unroll
    for (std::uint32_t i = 0; i < kRows * kDims; ++i) {
      vectors[i / kWidth].values[i % kWidth] = i < values ? from[i] : T(0);
    }
  }
};

/// Whether rows can be read by vectors, if their number is a multiple of a vector's width.
template <typename T>
KITH_HOST_DEVICE bool are_aligned(const ScanPoints<T>& points) {
  return reinterpret_cast<std::uintptr_t>(points.rows) % sizeof(ScanVector<T>) == 0;
}

}  // namespace kith::cuda
