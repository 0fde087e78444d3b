// From the number that a search compares to the distance that the user sees, and back for radii.
#pragma once

#include "core/arithmetic.hpp"

#include <kith/metric.hpp>

#include <cmath>
#include <limits>

namespace kith::core {

/// The distance that the user sees for a chain value.
template <typename T>
T reported_distance(Metric metric, bool squared, T chain) {
  switch (metric.kind()) {
    case Metric::Kind::l2:
      return squared ? chain : square_root(chain);
    case Metric::Kind::l1:
    case Metric::Kind::linf:
      return chain;
    case Metric::Kind::cosine:
      return chain / T(2);
    case Metric::Kind::lp:
      return std::pow(chain, static_cast<T>(1 / metric.p()));
  }
  return chain;
}

/// The largest value of the type that is at most `x`.
template <typename T>
T rounded_down(double x) {
  const T nearest = static_cast<T>(x);
  return static_cast<double>(nearest) > x ? std::nextafter(nearest, -std::numeric_limits<T>::infinity()) : nearest;
}

/// The largest chain value whose reported distance is at most `radius` (>= 0), so that "within the radius" is decided
/// on what the user sees. For lp, whose power is not exact, the power of the radius itself.
template <typename T>
T chain_bound_of_radius(Metric metric, double radius) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T r = rounded_down<T>(radius);
  switch (metric.kind()) {
    case Metric::Kind::l1:
    case Metric::Kind::linf:
      return r;
    case Metric::Kind::lp:
      return std::pow(r, static_cast<T>(metric.p()));
    case Metric::Kind::cosine: {
      T bound = rounded_down<T>(2 * radius);
      while (bound / T(2) > r) bound = std::nextafter(bound, T(0));
      return bound;
    }
    case Metric::Kind::l2:
      break;
  }
  if (r == kInfinity) return kInfinity;
  T bound = r * r;  // within a few units in the last place of the answer
  while (square_root(bound) > r) bound = std::nextafter(bound, T(0));
  for (T next = std::nextafter(bound, kInfinity); square_root(next) <= r; next = std::nextafter(next, kInfinity)) {
    bound = next;
  }
  return bound;
}

}  // namespace kith::core
