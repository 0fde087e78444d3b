// A box read in as few loads as its alignment allows.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// The lower corner, then the upper one; rows of a tree's boxes are aligned to what they are a multiple of.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void load_box(const T* from, T (&box)[2 * kDims]) {
  constexpr std::uint32_t kBytes = 2 * kDims * sizeof(T);
  constexpr std::uint32_t kVector = kBytes % 16 == 0 ? 16 : 8;
  constexpr std::uint32_t kPer = kVector / sizeof(T);
  struct alignas(kVector) Vector {
    T values[kPer];
  };
#pragma unroll
  for (std::uint32_t i = 0; i < 2 * kDims / kPer; ++i) {
    const Vector vector = reinterpret_cast<const Vector*>(from)[i];
#pragma unroll
    for (std::uint32_t j = 0; j < kPer; ++j) box[i * kPer + j] = vector.values[j];
  }
}

}  // namespace kith::cuda
