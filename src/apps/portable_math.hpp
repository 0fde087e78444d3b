// Sine, logarithm and normal numbers from + - * / and sqrt alone: libm differs between machines, these do not.
#pragma once

#include "apps/random_draws.hpp"
#include "core/metric/sine.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace kith::apps::inline v0 {

using SineCosine = core::SineAndCosine;

/// Of an angle in turns (1 is a full circle), |turns| < 2^52. The error is below 1e-15.
inline SineCosine sine_cosine_of_turns(double turns) {
  // Four times the angle is a whole number of quarter turns plus a rest of at most an eighth of a turn either way.
  const double quarters = turns * 4;
  const auto quarter = static_cast<std::int64_t>(quarters < 0 ? quarters - 0.5 : quarters + 0.5);
  const double x = (quarters - static_cast<double>(quarter)) * 1.5707963267948966;
  const double y = x * x;
  // The series of Taylor up to x^15 and x^16.
  constexpr double kSine[] = {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                              -1.0 / 5040,          1.0 / 120,        -1.0 / 6,        1.0};
  constexpr double kCosine[] = {1.0 / 20922789888000,
                                -1.0 / 87178291200,
                                1.0 / 479001600,
                                -1.0 / 3628800,
                                1.0 / 40320,
                                -1.0 / 720,
                                1.0 / 24,
                                -1.0 / 2,
                                1.0};
  double sine = 0;
  for (const double coefficient : kSine) sine = sine * y + coefficient;
  sine *= x;
  double cosine = 0;
  for (const double coefficient : kCosine) cosine = cosine * y + coefficient;
  return core::turned({sine, cosine}, quarter);
}

/// The natural logarithm of a positive normal number; the relative error is below 1e-15 away from 1.
inline double logarithm(double value) {
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  auto exponent = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1023);
  double mantissa = std::bit_cast<double>((bits & kMantissa) | (std::uint64_t{1023} << 52));  // in [1, 2)
  if (mantissa > 1.4142135623730951) {
    mantissa *= 0.5;
    exponent += 1;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // |s| < 0.172, log(mantissa) = 2 (s + s^3/3 + s^5/5 + …)
  const double y = s * s;
  double series = 1.0 / 21;
  for (int odd = 19; odd >= 1; odd -= 2) series = series * y + 1.0 / odd;
  return exponent * 0.6931471805599453 + 2 * s * series;
}

/// A pair of independent normal numbers (mean 0, deviation 1) from draws `number` and `number + 1`; at most 8.6 in
/// size.
inline SineCosine normal_pair(const Draws& draws, std::uint64_t number) {
  const double size = std::sqrt(-2 * logarithm(1 - draws.uniform(number)));
  const auto [sine, cosine] = sine_cosine_of_turns(draws.uniform(number + 1));
  return {size * sine, size * cosine};
}

/// One normal number, from draws `number` and `number + 1`.
inline double normal(const Draws& draws, std::uint64_t number) { return normal_pair(draws, number).cosine; }

}  // namespace kith::apps::inline v0
