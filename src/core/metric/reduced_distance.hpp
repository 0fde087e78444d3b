// The chains of the contract: how two points become one comparable number, coordinate by coordinate in their order, the
// same on every device.
#pragma once

#include "core/metric/metrics.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::core {

/// Whether a second sum is what the first one is divided by.
template <typename M>
inline constexpr bool kIsQuotient = requires {
  M::kSecondStep;
};

/// The sum after one more coordinate of a query and a point.
template <typename M, typename T>
KITH_HOST_DEVICE T step_of_pair(const M& metric, T sum, T query, T point) {
  return formula::OnNumbers<M, T>{metric, sum, query, point}(std::remove_const_t<decltype(M::kStep)>{});
}

/// The same for two coordinates that are `gap` apart, under a metric of differences.
template <typename M, typename T>
KITH_HOST_DEVICE T step_of_gap(const M& metric, T sum, T gap) {
  static_assert(M::kIsOfDifferences);
  return step_of_pair(metric, sum, gap, T(0));
}

/// The number to compare, when all coordinates are in the sum.
template <typename M, typename T>
KITH_HOST_DEVICE T finish_sum(const M& metric, T sum) {
  return formula::OnNumbers<M, T>{metric, sum, T(0), T(0)}(std::remove_const_t<decltype(M::kEnd)>{});
}

/// A bound made of steps that rounding may have made too large, each by up to 3 units in the last place. Two sums of
/// `dims` terms, of which those of the one are not above those of the other, are off by half a unit per term each.
template <typename M, typename T>
KITH_HOST_DEVICE T safe_bound(T bound, std::uint32_t dims) {
  if constexpr (!M::kBoundsNeedSlack) return bound;
  return bound * (T(1) - static_cast<T>(dims + 16) * std::numeric_limits<T>::epsilon());
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

/// The reduced distance over `dims` coordinates of a query and a point, each `stride` elements apart.
template <typename M, typename T>
KITH_HOST_DEVICE T reduced_distance(const M& metric, const T* query, const T* point, std::uint32_t dims,
                                    std::size_t query_stride = 1, std::size_t point_stride = 1) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    sum = step_of_pair(metric, sum, query[d * query_stride], point[d * point_stride]);
  }
  if constexpr (kIsQuotient<M>) {
    T second = T(0);
    for (std::uint32_t d = 0; d < dims; ++d) {
      second = formula::OnNumbers<M, T>{metric, second, query[d * query_stride],
                                        point[d * point_stride]}(std::remove_const_t<decltype(M::kSecondStep)>{});
    }
    return quotient(sum, second);
  } else {
    return finish_sum(metric, sum);
  }
}

/// The same on periodic axes; every coordinate lies in [0, lengths[d]), where that is not infinity.
template <typename M, typename T>
KITH_HOST_DEVICE T periodic_reduced_distance(const M& metric, const T* query, const T* point, const T* lengths,
                                             std::uint32_t dims, std::size_t query_stride = 1,
                                             std::size_t point_stride = 1) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T difference = query[d * query_stride] - point[d * point_stride];
    sum = step_of_gap(metric, sum, shorter_way(difference, lengths[d]));
  }
  return sum;
}

/// The sum after the least step from x to any number in [lower, upper].
template <typename M, typename T>
KITH_HOST_DEVICE T step_to_interval(const M& metric, T sum, T x, T lower, T upper) {
  if constexpr (M::kIsOfDifferences) {
    return step_of_gap(metric, sum, larger(larger(lower - x, x - upper), T(0)));
  } else {
    return step_of_pair(metric, sum, x, x < lower ? lower : upper < x ? upper : x);
  }
}

/// The same from any number in [low, high].
template <typename M, typename T>
KITH_HOST_DEVICE T step_between_intervals(const M& metric, T sum, T low, T high, T lower, T upper) {
  if constexpr (M::kIsOfDifferences) {
    return step_of_gap(metric, sum, larger(larger(lower - high, low - upper), T(0)));
  } else {
    return high < lower  ? step_of_pair(metric, sum, high, lower)
           : upper < low ? step_of_pair(metric, sum, low, upper)
                         : sum;
  }
}

/// A lower bound of the reduced distance for every point inside the box [lower, upper]. Subtraction and every step are
/// monotone under rounding to nearest, so the bound is never above the reduced distance of a point inside; where a step
/// is not, the factor makes up for it.
template <typename M, typename T>
KITH_HOST_DEVICE T reduced_to_box(const M& metric, const T* query, const T* lower, const T* upper, std::uint32_t dims) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) sum = step_to_interval(metric, sum, query[d], lower[d], upper[d]);
  return safe_bound<M>(sum, dims);
}

/// The same on periodic axes. Points and query lie in [0, lengths[d]).
template <typename M, typename T>
KITH_HOST_DEVICE T periodic_reduced_to_box(const M& metric, const T* query, const T* lower, const T* upper,
                                           const T* lengths, std::uint32_t dims) {
  T sum = T(0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    sum = step_of_gap(metric, sum, shorter_way_to_interval(query[d], lower[d], upper[d], lengths[d]));
  }
  return sum;
}

}  // namespace kith::core
