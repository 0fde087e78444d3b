// Distances straight from their definition, one pair at a time, for checking what the engines return. Shares no code
// with them on purpose.
#pragma once

#include <kith/metric.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::apps {

/// The value that neighbours are compared by: the squared distance for L2, and for cosine and angular (of normalised
/// vectors), the sum of powers for lp, the negative inner product for ip, the distance itself for L1 and Linf. All in
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
    if (lengths != nullptr && lengths[d] > 0) difference = std::min(std::abs(difference), lengths[d] - std::abs(difference));
    switch (metric.kind()) {
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
        sum += std::pow(std::abs(difference), static_cast<T>(metric.p()));
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
      return std::pow(value, static_cast<T>(1 / metric.p()));
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
    return value <= std::pow(static_cast<T>(radius), static_cast<T>(metric.p()));
  }
  return static_cast<double>(distance_of(value, metric)) <= radius;
}

/// Whether two lp distances are equal as far as the contract goes. Each power may be a few units in the last place off,
/// each addition half of one; below the normal numbers a power has no relative precision at all.
template <typename T>
bool lp_distances_agree(T found, T expected, Metric metric, std::uint32_t dims) {
  if (found == expected) return true;  // infinities too
  const T units = static_cast<T>(dims) + static_cast<T>(metric.p()) + 16;
  const T vanishing = distance_of(units * std::numeric_limits<T>::min(), metric);
  if (found >= 0 && found <= vanishing && expected <= vanishing) return true;
  return std::abs(found - expected) <= units * std::numeric_limits<T>::epsilon() * expected;
}

/// Whether a pair lies so near the edge of the radius that lp leaves open on which side; never for the exact metrics.
template <typename T>
bool is_on_edge(T value, double radius, Metric metric, std::uint32_t dims) {
  return metric.kind() == Metric::Kind::lp &&
         lp_distances_agree(static_cast<T>(radius), distance_of(value, metric), metric, dims);
}

}  // namespace kith::apps
