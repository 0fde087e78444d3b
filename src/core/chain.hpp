// The chains of the contract: how two points become one comparable number, the same on every device.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::core {

/// Squared Euclidean distance.
struct L2Chain {
  template <typename T>
  KITH_HOST_DEVICE T step(T sum, T difference) const {
    return fused_multiply_add(difference, difference, sum);
  }
};

/// Sum of absolute differences.
struct L1Chain {
  template <typename T>
  KITH_HOST_DEVICE T step(T sum, T difference) const {
    return sum + absolute(difference);
  }
};

/// Largest absolute difference.
struct LinfChain {
  template <typename T>
  KITH_HOST_DEVICE T step(T sum, T difference) const {
    return larger(sum, absolute(difference));
  }
};

/// Sum of powers of absolute differences. Not exact between devices: `pow` rounds as the platform likes.
struct LpChain {
  double p = 2;

  template <typename T>
  KITH_HOST_DEVICE T step(T sum, T difference) const {
    using std::pow;
    if (difference == T(0)) return sum;  // as in most dimensions of most boxes
    return sum + pow(absolute(difference), static_cast<T>(p));
  }
};

/// The negative inner product: a chain of products, not of differences, so it has no `step` and no bound of boxes.
struct InnerProductChain {};

/// The sum after one more coordinate of a query and a point.
template <typename Chain, typename T>
KITH_HOST_DEVICE T step_of_pair(const Chain& chain, T sum, T query, T point) {
  return chain.step(sum, static_cast<T>(query - point));
}
template <typename T>
KITH_HOST_DEVICE T step_of_pair(const InnerProductChain&, T sum, T query, T point) {
  return fused_multiply_add(query, point, sum);
}

/// The number to compare, when all coordinates are in the sum.
template <typename Chain, typename T>
KITH_HOST_DEVICE T end_of_chain(const Chain&, T sum) {
  return sum;
}
/// 0 less the sum is never -0. Nor is it NaN: the product in a fused multiply-add is never rounded and so never
/// infinite, and a sum that is infinite stays what it is.
template <typename T>
KITH_HOST_DEVICE T end_of_chain(const InnerProductChain&, T sum) {
  return T(0) - sum;
}

/// The shorter way between two coordinates of a periodic axis, both in [0, length), from their difference e: |e|
/// straight on or length - |e| around. On an axis that does not wrap the length is infinity and the way is |e|: then
/// length - |e| is infinity, or NaN where |e| overflowed, and neither is below |e|.
template <typename T>
KITH_HOST_DEVICE T shorter_way(T difference, T length) {
  const T straight = absolute(difference);
  const T around = length - straight;
  return around < straight ? around : straight;
}

/// A lower bound of `shorter_way` from a query to every coordinate in [lower, upper]. Rounding to nearest is monotone:
/// |e| of a point inside is, as computed, neither below `nearest` nor above `farthest`, and so length - |e| is not
/// below length - farthest. No slack is needed.
template <typename T>
KITH_HOST_DEVICE T shorter_way_to_interval(T query, T lower, T upper, T length) {
  const T nearest = larger(larger(lower - query, query - upper), T(0));
  const T farthest = larger(upper - query, query - lower);
  const T around = length - farthest;
  return around < nearest ? around : nearest;
}

/// The chain over `dims` coordinates of a query and a point, each `stride` elements apart.
template <typename Chain, typename T>
KITH_HOST_DEVICE T chain_distance(const Chain& chain, const T* query, const T* point, std::uint32_t dims,
                                  std::size_t query_stride = 1, std::size_t point_stride = 1) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    sum = step_of_pair(chain, sum, query[d * query_stride], point[d * point_stride]);
  }
  return end_of_chain(chain, sum);
}

/// The same on periodic axes; every coordinate lies in [0, lengths[d]), where that is not infinity.
template <typename Chain, typename T>
KITH_HOST_DEVICE T periodic_chain_distance(const Chain& chain, const T* query, const T* point, const T* lengths,
                                           std::uint32_t dims, std::size_t query_stride = 1,
                                           std::size_t point_stride = 1) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T difference = query[d * query_stride] - point[d * point_stride];
    sum = chain.step(sum, shorter_way(difference, lengths[d]));
  }
  return sum;
}

/// A lower bound of the chain for every point inside the box [lower, upper]. Subtraction and every step are monotone
/// under rounding to nearest, so the bound is never above the chain of a point inside; no slack is needed.
template <typename Chain, typename T>
KITH_HOST_DEVICE T chain_to_box(const Chain& chain, const T* query, const T* lower, const T* upper,
                                std::uint32_t dims) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T below = lower[d] - query[d];
    const T above = query[d] - upper[d];
    sum = chain.step(sum, larger(larger(below, above), T(0)));
  }
  return sum;
}

/// The same on periodic axes. Points and query lie in [0, lengths[d]).
template <typename Chain, typename T>
KITH_HOST_DEVICE T periodic_chain_to_box(const Chain& chain, const T* query, const T* lower, const T* upper,
                                         const T* lengths, std::uint32_t dims) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    sum = chain.step(sum, shorter_way_to_interval(query[d], lower[d], upper[d], lengths[d]));
  }
  return sum;
}

}  // namespace kith::core
