// Powers of non-negative numbers, in operations that round alike everywhere, and monotone as computed: x <= y gives
// power(x) <= power(y).
//
// A whole exponent up to 64 is multiplied out, half of one more is a square root: every operation is rounded to
// nearest, keeps the order of its operands, and is off by half a unit in the last place, so that x^p is off by p of
// these halves. All other exponents go through 2^(p log2 x) in double, without fused multiply-adds.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::core {

/// log2(1 + j/128) and 2^(j/128), correctly rounded, for j = 0 to 128.
struct PowerTables {
  double logs[129];
  double powers[129];
};

/// In whole numbers, so that every compiler makes the same tables: 2^63 stands for 1.
constexpr PowerTables make_power_tables() {
  using Word = std::uint64_t;
  constexpr Word kRoots[7] = {0xB504F333F9DE6484, 0x9837F0518DB8A96F, 0x8B95C1E3EA8BD6E7, 0x85AAC367CC487B15,
                              0x82CD8698AC2BA1D7, 0x8164D1F3BC030773, 0x80B1ED4FD999AB6C};  // 2^(1/2), 2^(1/4), …
  const auto product = [](Word a, Word b) {                                                 // the upper half
    const Word a1 = a >> 32, a0 = a & 0xFFFFFFFF, b1 = b >> 32, b0 = b & 0xFFFFFFFF;
    const Word middle = (a0 * b0 >> 32) + (a1 * b0 & 0xFFFFFFFF) + (a0 * b1 & 0xFFFFFFFF);
    return a1 * b1 + (a1 * b0 >> 32) + (a0 * b1 >> 32) + (middle >> 32);
  };
  PowerTables tables = {};
  for (Word j = 0; j < 128; ++j) {
    Word bits = 0, x = (128 + j) << 56, power = Word{1} << 63;
    for (int i = 0; i < 64; ++i) {  // a bit of the logarithm is whether the square is 2 or more
      x = product(x, x);
      const Word is_two = x >> 63;
      bits = bits << 1 | is_two;
      x <<= 1 - is_two;
    }
    for (Word i = 0; i < 7; ++i) {
      if ((j >> (6 - i) & 1) != 0) power = product(power, kRoots[i]) << 1;
    }
    tables.logs[j] = static_cast<double>(bits) * 0x1p-64;
    tables.powers[j] = static_cast<double>(power) * 0x1p-63;
  }
  tables.logs[128] = 1;
  tables.powers[128] = 2;
  return tables;
}

/// In a function, because a GPU reaches no arrays outside of functions.
KITH_HOST_DEVICE inline const PowerTables& power_tables() {
  static constexpr PowerTables kTables = make_power_tables();
  return kTables;
}

// 2 / ln 2, and the same over 3 and 5.
inline constexpr double kLog1 = 0x1.71547652b82fep+1, kLog3 = 0x1.ec709dc3a03fdp-1, kLog5 = 0x1.2776c50ef9bfep-1;
// (ln 2 / 128)^n / n!
inline constexpr double kPower1 = 0x1.62e42fefa39efp-8, kPower2 = 0x1.ebfbdff82c58fp-17,
                        kPower3 = 0x1.c6b08d704a0c0p-26, kPower4 = 0x1.3b2ab6fba4e77p-35,
                        kPower5 = 0x1.5d87fe78a6731p-45, kPower6 = 0x1.430912f86c787p-55;

/// log2 of a positive finite number, off by at most 1.3 * 2^-53 + |log2 x| * 2^-53.
///
/// x = 2^k m with m in [c, c + 1/128), c one of 128 numbers from 1 to 2, and log2 m = log2 c + 2/ln 2 atanh(s) with
/// s = (m - c) / (m + c) < 1/257. The difference is exact, the quotient off by a relative 2^-52, the series, whose next
/// term is below 6e-18, by a few roundings of a number below 0.012; log2 c and the sum are each off by 2^-54.
///
/// Monotone: as m goes to the next double, m - c grows by a factor of at least 1 + 128 * 2^-52 and m + c, as rounded,
/// by at most 1 + 2^-52, so the quotient does not fall; the series has positive terms only, and each rounding keeps the
/// order; the value of the last m before each of the 128 next c is not above the one of that c.
KITH_HOST_DEVICE inline double binary_logarithm(double x) {
  const bool is_tiny = x < std::numeric_limits<double>::min();
  const auto bits = std::bit_cast<std::uint64_t>(is_tiny ? x * 0x1p54 : x);
  const int exponent = static_cast<int>(bits >> 52) - (is_tiny ? 1023 + 54 : 1023);
  const std::uint64_t fraction = (bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000;
  const double m = std::bit_cast<double>(fraction), c = std::bit_cast<double>(fraction & ~0x1FFFFFFFFFFF);
  const double s = (m - c) / (m + c), square = s * s;
  return exponent + (power_tables().logs[bits >> 45 & 127] + s * (kLog1 + square * (kLog3 + square * kLog5)));
}

/// 2^n for n from -1022 to 1023.
KITH_HOST_DEVICE inline double power_of_two(int n) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

/// 2^t, off by a relative 2.2 * 2^-53, or by half of the smallest number.
///
/// 128 t = i + r with r in [0, 1]: 2^t = 2^(i/128) (1 + r ln 2 / 128 + …), a series of positive terms of which those
/// left out are below 1e-19. Monotone like the logarithm: no value is above that of the next i.
KITH_HOST_DEVICE inline double binary_power(double t) {
  const double scaled = 128 * (t < 1100 ? t > -1100 ? t : -1100.0 : 1100.0);
  int i = static_cast<int>(scaled);
  if (scaled < i) --i;
  const double r = scaled - i, square = r * r;
  const double sum = (kPower1 + kPower2 * r) + square * ((kPower3 + kPower4 * r) + square * (kPower5 + kPower6 * r));
  const double power = power_tables().powers[i & 127], most = power_tables().powers[(i & 127) + 1];
  const double sought = power + power * (r * sum), value = sought < most ? sought : most;
  const int exponent = i >> 7;
  if (exponent >= -1022 && exponent <= 1023) return value * power_of_two(exponent);
  const int half = exponent / 2;  // in two steps, the first of them exact
  return value * power_of_two(half) * power_of_two(exponent - half);
}

/// x^p for any p > 0, off by a relative (p + 1.4 |log2 x^p| + 3) * 2^-53, or by half of the smallest number. On a GPU
/// it is too long to be copied to where it is called.
#if defined(__CUDA_ARCH__)
__noinline__
#endif
    KITH_HOST_DEVICE inline double
    any_power(double x, double p) {
  if (!(x > 0) || x > std::numeric_limits<double>::max()) return x;  // 0, infinity
  return binary_power(p * binary_logarithm(x));
}

/// An exponent that is above 0, with what powers of it need to know.
class Exponent {
 public:
  Exponent() = default;
  KITH_HOST_DEVICE explicit Exponent(double p) : p_(p) {
    constexpr double kMostMultiplied = 64;
    if (!(p >= 1 && p <= kMostMultiplied && 2 * p == static_cast<int>(2 * p))) {
      const int most = p > 1 ? static_cast<int>(1000 / p) : 1000;
      least_plain_ = power_of_two(-most);
      most_plain_ = power_of_two(most);
      return;
    }
    whole_ = static_cast<std::uint32_t>(p);
    is_half_ = p != whole_;
  }

  KITH_HOST_DEVICE double value() const { return p_; }
  /// Multiplied out this often, after the square root if so; 0: by logarithms.
  KITH_HOST_DEVICE std::uint32_t whole() const { return whole_; }
  KITH_HOST_DEVICE bool has_root() const { return is_half_; }

  /// Between these, both exclusive, x and x^p are normal numbers, unless the exponent is multiplied out.
  KITH_HOST_DEVICE double least_plain() const { return least_plain_; }
  KITH_HOST_DEVICE double most_plain() const { return most_plain_; }

  /// x^p for x >= 0.
  template <typename T>
  KITH_HOST_DEVICE T of(T x) const {
    if (whole_ == 0) return static_cast<T>(any_power(static_cast<double>(x), p_));
    T product = is_half_ ? square_root(x) : T(1), square = x;
    for (std::uint32_t rest = whole_;; square = square * square) {
      if ((rest & 1) != 0) product = product * square;
      rest >>= 1;
      if (rest == 0) return product;
    }
  }

 private:
  double p_ = 1, least_plain_ = 0, most_plain_ = 0;
  std::uint32_t whole_ = 0;
  bool is_half_ = false;
};

}  // namespace kith::core
