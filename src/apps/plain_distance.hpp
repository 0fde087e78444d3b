// Distances straight from their definition, one pair at a time, for checking what the engines return. Shares no code
// with them on purpose, but for powers, which are tested against long double by themselves.
#pragma once

#include "core/metric/power.hpp"

#include <kith/metric.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kith::apps::inline v0 {

/// The value that neighbours are compared by: the squared distance for L2, and for cosine and angular (of normalised
/// vectors), the sum of powers for lp, the negative inner product for ip, the distance itself for others. All in
/// the type of the data, in the order of the dimensions. `lengths` are those of periodic axes, 0 for one that does not
/// wrap, or null.
template <typename T>
T compared_value(const T* query, const T* point, std::uint32_t dims, Metric metric, const T* lengths = nullptr) {
  T sum = 0;
  if (metric.kind() == Metric::Kind::inner_product) {
    for (std::uint32_t d = 0; d < dims; ++d) sum = std::fma(query[d], point[d], sum);
    return sum == 0 ? T(0) : -sum;
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    T difference = query[d] - point[d];
    // On a periodic axis the way around may be the shorter one.
    if (lengths != nullptr && lengths[d] > 0)
      difference = std::min(std::abs(difference), lengths[d] - std::abs(difference));
    switch (metric.kind()) {
      case Metric::Kind::canberra: {
        const T scale = std::isinf(std::abs(query[d]) + std::abs(point[d])) ? T(0.5) : T(1);
        const T both = std::abs(query[d] * scale) + std::abs(point[d] * scale);
        if (both > 0) sum += std::abs(query[d] * scale - point[d] * scale) / both;
        break;
      }
      case Metric::Kind::l2:
      case Metric::Kind::cosine:
      case Metric::Kind::angular:
        sum = std::fma(difference, difference, sum);
        break;
      case Metric::Kind::l1:
        sum += std::abs(difference);
        break;
      case Metric::Kind::linf:
        sum = std::max(sum, std::abs(difference));
        break;
      case Metric::Kind::lp:
        sum += core::Exponent(metric.p()).of(std::abs(difference));
        break;
      case Metric::Kind::inner_product:
        break;
    }
  }
  return sum;
}

/// The angle of unit vectors at a squared distance, by the sum that the contract writes down.
inline double angle_between(double squared) {
  const double square = squared <= 2 ? squared : 4 - std::min(squared, 4.0);
  double terms[48] = {1};
  for (int i = 1; i < 48; ++i) {
    const double odd = 2 * i - 1, even = 2 * i;
    terms[i] = terms[i - 1] * (odd * odd) / (even * (even + 1));
  }
  double sum = terms[47];
  for (int i = 46; i >= 0; --i) sum = std::fma(sum, square / 4, terms[i]);
  const double angle = std::sqrt(square) * sum;
  return squared <= 2 ? angle : 3.14159265358979323846 - angle;
}

/// The distance of a pair whose compared value is `value`.
template <typename T>
T distance_of(T value, Metric metric) {
  switch (metric.kind()) {
    case Metric::Kind::l2:
      return std::sqrt(value);
    case Metric::Kind::lp:
      return static_cast<T>(core::any_power(value, 1 / metric.p()));
    case Metric::Kind::cosine:
      return value / 2;
    case Metric::Kind::angular:
      return static_cast<T>(angle_between(value));
    default:
      return value;
  }
}

/// Whether a pair lies within `radius`, a plain distance.
template <typename T>
bool is_within(T value, double radius, Metric metric) {
  if (metric.kind() == Metric::Kind::lp) {
    const T rounded = static_cast<T>(radius);
    const T within = static_cast<double>(rounded) > radius ? std::nextafter(rounded, T(0)) : rounded;
    return value <= core::Exponent(metric.p()).of(within);
  }
  return static_cast<double>(distance_of(value, metric)) <= radius;
}

}  // namespace kith::apps::inline v0
