// Sine and cosine of angles up to a full turn, in operations that round alike everywhere.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::core {

/// (-1)^N / (2 N + kOdd)!, the terms of the sine (kOdd = 1) and the cosine (kOdd = 0).
template <std::size_t N, int kOdd>
inline constexpr double kSineTerm = -kSineTerm<N - 1, kOdd> / ((2.0 * N + kOdd) * (2.0 * N + kOdd - 1));
template <int kOdd>
inline constexpr double kSineTerm<0, kOdd> = 1;

/// What is left out of the sums is below 1e-19 for angles up to pi/4.
inline constexpr std::size_t kSineTerms = 10;

template <int kOdd, std::size_t... I>
KITH_HOST_DEVICE double sine_sum(double square, std::index_sequence<I...>) {
  double sum = kSineTerm<kSineTerms - 1, kOdd>;
  ((sum = fused_multiply_add(sum, square, kSineTerm<kSineTerms - 2 - I, kOdd>)), ...);
  return sum;
}

struct SineAndCosine {
  double sine = 0, cosine = 1;
};

/// Those of an angle that is so many quarter turns larger.
KITH_HOST_DEVICE inline SineAndCosine turned(SineAndCosine angle, std::int64_t quarters) {
  switch (quarters & 3) {
    case 0:
      return angle;
    case 1:
      return {angle.cosine, -angle.sine};
    case 2:
      return {-angle.sine, -angle.cosine};
    default:
      return {-angle.cosine, angle.sine};
  }
}

/// Of an angle in radians or degrees, up to a full turn in either direction, each off by less than 2^-52.
///
/// The angle is a number of quarter turns and a rest of at most half a quarter: in degrees the rest is exact, in
/// radians a quarter turn is the sum of two numbers, the product with the first of which is rounded once.
KITH_HOST_DEVICE inline SineAndCosine sine_and_cosine(double angle, bool is_degrees) {
  constexpr double kQuarter = 0x1.921fb54442d18p+0, kQuarterRest = 0x1.1a62633145c07p-54;  // pi / 2
  constexpr double kDegree = 0x1.1df46a2529d39p-6, kDegreeRest = 0x1.5c1d8becdd291p-62;    // pi / 180
  const double quarters = angle / (is_degrees ? 90.0 : kQuarter);
  const int turns = static_cast<int>(quarters < 0 ? quarters - 0.5 : quarters + 0.5);
  double rest = 0;
  if (is_degrees) {
    const double left = angle - 90.0 * turns;
    rest = fused_multiply_add(left, kDegree, left * kDegreeRest);
  } else {
    rest = fused_multiply_add(-static_cast<double>(turns), kQuarterRest,
                              fused_multiply_add(-static_cast<double>(turns), kQuarter, angle));
  }
  const double square = rest * rest;
  const double sine = rest * sine_sum<1>(square, std::make_index_sequence<kSineTerms - 1>{});
  const double cosine = sine_sum<0>(square, std::make_index_sequence<kSineTerms - 1>{});
  return turned({sine, cosine}, turns);
}

}  // namespace kith::core
