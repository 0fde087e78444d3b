// From the number that a search compares to the distance that the user sees, and back for radii.
#pragma once

#include "core/angle.hpp"
#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <kith/metric.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::core {

/// The distance that the user sees for a chain value.
template <typename T>
KITH_HOST_DEVICE T reported_distance(Metric metric, bool squared, T chain) {
  using std::pow;
  switch (metric.kind()) {
    case Metric::Kind::l2:
      return squared ? chain : square_root(chain);
    case Metric::Kind::l1:
    case Metric::Kind::linf:
    case Metric::Kind::inner_product:
      return chain;
    case Metric::Kind::cosine:
      return chain / T(2);
    case Metric::Kind::angular:  // of nobody it is infinite
      return chain > std::numeric_limits<T>::max() ? chain : static_cast<T>(angle_of_chord(static_cast<double>(chain)));
    case Metric::Kind::lp:
      return pow(chain, static_cast<T>(1 / metric.p()));
  }
  return chain;
}

/// Whether chain values are what the user sees.
inline bool is_reported_as_is(Metric metric, bool squared) {
  switch (metric.kind()) {
    case Metric::Kind::l1:
    case Metric::Kind::linf:
    case Metric::Kind::inner_product:
      return true;
    case Metric::Kind::l2:
      return squared;
    default:
      return false;
  }
}

/// The largest value of the type that is at most `x`.
template <typename T>
T rounded_down(double x) {
  const T nearest = static_cast<T>(x);
  return static_cast<double>(nearest) > x ? std::nextafter(nearest, -std::numeric_limits<T>::infinity()) : nearest;
}

/// The largest value at or near `guess` that `is_within` accepts; `is_within` must be true below some point and false
/// above it, within a few units in the last place of the guess.
template <typename T, typename IsWithin>
T last_within(T guess, IsWithin&& is_within) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  while (!is_within(guess)) guess = std::nextafter(guess, T(0));
  for (T next = std::nextafter(guess, kInfinity); next != guess && is_within(next);
       next = std::nextafter(next, kInfinity)) {
    guess = next;
  }
  return guess;
}

/// The largest squared distance of vectors of length 1 whose angle, as reported, is at most `radius`; infinity if all
/// are.
template <typename T>
T chain_bound_of_angle(T radius) {
  const auto is_within = [radius](T chain) {
    return static_cast<T>(angle_of_chord(static_cast<double>(chain))) <= radius;
  };
  T within = 0, beyond = 4;
  if (is_within(beyond)) return std::numeric_limits<T>::infinity();
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;  // ascend as the numbers do
  while (std::bit_cast<Bits>(beyond) - std::bit_cast<Bits>(within) > 1) {
    const auto middle = std::bit_cast<T>((std::bit_cast<Bits>(within) + std::bit_cast<Bits>(beyond)) / 2);
    (is_within(middle) ? within : beyond) = middle;
  }
  return within;
}

/// The largest chain value whose reported distance is at most `radius` (>= 0), so that "within the radius" is decided
/// on what the user sees. For lp, whose power is not exact, the power of the radius itself.
template <typename T>
T chain_bound_of_radius(Metric metric, double radius) {
  const T r = rounded_down<T>(radius) + T(0);  // -0 is +0: bounds are compared by their bits, too
  switch (metric.kind()) {
    case Metric::Kind::l1:
    case Metric::Kind::linf:
    case Metric::Kind::inner_product:
      return r;
    case Metric::Kind::lp:
      return std::pow(r, static_cast<T>(metric.p()));
    case Metric::Kind::cosine:
      return last_within(2 * r, [r](T chain) { return chain / T(2) <= r; });
    case Metric::Kind::angular:
      return chain_bound_of_angle(r);
    case Metric::Kind::l2:
      break;
  }
  return last_within(r * r, [r](T chain) { return square_root(chain) <= r; });
}

}  // namespace kith::core
