// The angle between two directions from the distance of their unit vectors, in operations that round alike everywhere.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cstddef>
#include <utility>

namespace kith::core {

/// asin(x) = x * (a_0 + a_1 x^2 + a_2 x^4 + …), all of them positive.
template <std::size_t N>
inline constexpr double kArcSineTerm = kArcSineTerm<N - 1>*((2.0 * N - 1) * (2.0 * N - 1)) /
                                       ((2.0 * N) * (2.0 * N + 1));
template <>
inline constexpr double kArcSineTerm<0> = 1;

/// What is left out of the sum is below 1e-17 for x^2 <= 1/2.
inline constexpr std::size_t kArcSineTerms = 48;

template <std::size_t... I>
KITH_HOST_DEVICE double arc_sine_sum(double square, std::index_sequence<I...>) {
  double sum = kArcSineTerm<kArcSineTerms - 1>;
  ((sum = fused_multiply_add(sum, square, kArcSineTerm<kArcSineTerms - 2 - I>)), ...);
  return sum;
}

/// 2 asin(x) for 4 x^2 = `square` <= 2.
KITH_HOST_DEVICE inline double narrow_angle(double square) {
  return square_root(square) * arc_sine_sum(square / 4, std::make_index_sequence<kArcSineTerms - 1>{});
}

/// The angle in radians, 0 to pi, between two vectors of length 1 whose squared distance is `square`; what rounding
/// puts beyond 4 counts as 4.
///
/// With x half the distance it is 2 asin(x), or pi - 2 asin(sqrt(1 - x^2)); from 4 x^2 = 2 on the difference 4 - 4 x^2
/// is exact. Each of the root, the sum and the product is off by about half a unit in the last place, and what is taken
/// from pi is not larger than what is left: less than 1e-15 in all.
///
/// It never falls as the distance rises: a rounded operation keeps the order of its operands, and each one here rises
/// with all of them, as none is negative, or falls where 4 - 4 x^2 does. Where the two halves meet a test looks.
KITH_HOST_DEVICE inline double angle_of_chord(double square) {
  constexpr double kPi = 3.14159265358979323846;
  if (square <= 2) return narrow_angle(square);
  return kPi - narrow_angle(square < 4 ? 4 - square : 0);
}

}  // namespace kith::core
