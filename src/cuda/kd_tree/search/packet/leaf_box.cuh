// The box of a leaf as its middle and half its width: how far a query is from it takes one instruction a dim less than
// from two corners. Roundings are covered, so no leaf is lost: if a point of the box is within a reduced distance r of
// the query, to_leaf_box is at most near_enough(r).
//
// In a dim, let h be half the width, t the distance from the box, e half of T's epsilon. The difference between query
// and middle is at most h + t, so it is off by e (h + t). The widening makes up for e h. What is left is off by a few
// e t, as is the exact difference; squares and sums are off by a few e more, together less than 16. Reduced distances
// that underflow are off by less than the least normal number. What overflows to no number counts as 0: near.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cmath>
#include <limits>

namespace kith::cuda {

/// `box` has the lower corner, then the upper one; `leaf` gets the middle, then half the width, a little more.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void make_leaf_box(const T (&box)[2 * kDims], T (&leaf)[2 * kDims]) {
  constexpr T kWidening = 1 + 2 * std::numeric_limits<T>::epsilon();
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const T middle = box[d] / 2 + box[kDims + d] / 2;
    leaf[d] = middle;
    leaf[kDims + d] = greater(box[kDims + d] - middle, middle - box[d]) * kWidening;
  }
}

/// About the least reduced distance between a query and the leaf.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ T to_leaf_box(const T (&query)[kDims], const T (&leaf)[2 * kDims]) {
  T sum = T(0);
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) {
    sum = core::step_of_gap(core::L2{}, sum, greater(T(0), std::fabs(query[d] - leaf[d]) - leaf[kDims + d]));
  }
  return sum;
}

/// Up to here a leaf may have a point within the reduced distance.
template <typename T>
__device__ __forceinline__ T near_enough(T reduced) {
  constexpr T kSlack = 1 + 16 * std::numeric_limits<T>::epsilon();
  return core::fused_multiply_add(reduced, kSlack, std::numeric_limits<T>::min());
}

}  // namespace kith::cuda
