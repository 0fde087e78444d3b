// The number that the bits of a half stand for.
#pragma once

#include <cmath>
#include <cstdint>

namespace kith::test {

/// Of a finite half.
inline double value_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, digits = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(digits, -24) : std::ldexp(1024 + digits, exponent - 25);
  return bits >> 15 == 0 ? size : -size;
}

}  // namespace kith::test
