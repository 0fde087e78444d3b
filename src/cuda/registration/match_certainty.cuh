// What is known of a point of the source since its last search, and whether its match is certain to be the same still.
#pragma once

#include "core/arithmetic.hpp"
#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Distances and bounds are computed in the type of the points and rounded, also those that searches compare: a few
/// units in the last place either way.
template <typename T>
inline constexpr T kSlack = 32 * std::numeric_limits<T>::epsilon();
/// Squares of distances above it overflow; a little less, because distances are rounded.
template <typename T>
inline constexpr T kMostDistance = static_cast<T>(sizeof(T) == 4 ? 1.8446e19 : 1.34077e154);
/// Far above the distances whose squares are not normal numbers, so that different ones may compare equal.
template <typename T>
inline constexpr T kLeastDistance = static_cast<T>(sizeof(T) == 4 ? 1e-15 : 1e-140);

template <typename T, std::uint32_t kDims>
__device__ __forceinline__ T distance_between(const T (&a)[kDims], const T (&b)[kDims]) {
  T squared = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) squared = core::fused_multiply_add(a[d] - b[d], a[d] - b[d], squared);
  return core::square_root(squared);
}

/// What a distance is at least where another point is that far from a place, and the query so far from it.
template <typename T>
__device__ __forceinline__ T left_of(T others, T walked) {
  return others * (1 - kSlack<T>)-walked * (1 + kSlack<T>);
}
/// Whether every search would take a point at a distance, when all others are at least `others` away.
template <typename T>
__device__ __forceinline__ bool is_certain(T distance, T others) {
  return distance * (1 + kSlack<T>) < others && others > kLeastDistance<T> && distance < kMostDistance<T> / 2;
}
/// As it is kept: so that its square is finite.
template <typename T>
__device__ __forceinline__ T kept_distance(T reduced) {
  return lesser(core::square_root(reduced), kMostDistance<T>);
}

/// Whether the match of a point that moved from `place` to `query` may be another one than there. `match` is where the
/// match lies, if there is one; no other point was nearer to `place` than `others`, which is below 0 if nothing is
/// known. Whatever this returns, the answer is the same.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ bool may_have_changed(const T (&query)[kDims], const T (&place)[kDims], bool has_match,
                                                 const T (&match)[kDims], T others, double reach) {
  const T left = left_of(others, distance_between<T, kDims>(query, place));
  if (!has_match) return !(static_cast<double>(left) > reach);
  return !is_certain(distance_between<T, kDims>(query, match), left);
}

}  // namespace kith::cuda
