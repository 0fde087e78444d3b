// The chains of the contract: how the differences of two points become one comparable number, the same on every device.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

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
    return sum + pow(absolute(difference), static_cast<T>(p));
  }
};

/// The chain over `dims` coordinates of a query and a point, each `stride` elements apart.
template <typename Chain, typename T>
KITH_HOST_DEVICE T chain_distance(const Chain& chain, const T* query, const T* point, std::uint32_t dims,
                                  std::size_t query_stride = 1, std::size_t point_stride = 1) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    sum = chain.step(sum, static_cast<T>(query[d * query_stride] - point[d * point_stride]));
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

}  // namespace kith::core
