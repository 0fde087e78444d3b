// The order of points that decides every split: (x_d, x_(d+1), …, x_(d-1), number).
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/build/split_state.hpp"

namespace kith::cuda {

/// A coordinate, or the number of the point for dimension `dims`.
template <typename T>
__device__ __forceinline__ T coordinate(const PointSource<T>& source, std::uint32_t dims, std::uint64_t place,
                                        std::uint32_t d) {
  return d < dims ? source.at(place, d) : static_cast<T>(source.index(place));
}

/// Component `stage` of the super-key of dimension d as an unsigned number that is neither 0 nor the largest.
template <typename T>
__device__ __forceinline__ OrderedKey<T> component_key(const PointSource<T>& source, std::uint32_t dims,
                                                       std::uint64_t place, std::uint32_t d, std::uint32_t stage) {
  if (stage >= dims) return static_cast<OrderedKey<T>>(source.index(place)) + 1;
  const std::uint32_t axis = d + stage < dims ? d + stage : d + stage - dims;
  return ordered_key(source.at(place, axis));
}

/// True if point a comes before point b by the super-key of dimension d, from component `stage` on. Dimension `dims`:
/// by number alone.
template <typename T>
__device__ __forceinline__ bool precedes(const PointSource<T>& source, std::uint32_t dims, std::uint64_t a,
                                         std::uint64_t b, std::uint32_t d, std::uint32_t stage) {
  if (d < dims) {
    for (; stage < dims; ++stage) {
      const std::uint32_t axis = d + stage < dims ? d + stage : d + stage - dims;
      const T x = source.at(a, axis), y = source.at(b, axis);
      if (x != y) return x < y;
    }
  }
  return source.index(a) < source.index(b);
}

/// Whether point a does not come before point b, where that is rarely asked.
template <typename T>
KITH_NOINLINE __device__ bool is_not_before(const PointSource<T> source, std::uint32_t dims, std::uint32_t a,
                                            std::uint32_t b, std::uint32_t d, std::uint32_t stage) {
  return !precedes(source, dims, a, b, d, stage);
}

/// Whether a point lies in the right half of a node whose split is known exactly.
template <typename T>
__device__ bool is_right_of(const PointSource<T>& source, std::uint32_t dims, std::uint64_t place, std::uint32_t dim,
                            T split_value, std::uint32_t split_place) {
  if (dim < dims) {
    const T x = source.at(place, dim);
    if (x != split_value) return x > split_value;
  }
  return is_not_before(source, dims, static_cast<std::uint32_t>(place), split_place, dim, 1);
}

}  // namespace kith::cuda
