// Powers of non-negative numbers, in operations that round alike everywhere, and monotone as computed: x <= y gives
// power(x) <= power(y).
//
// A whole exponent up to 64 is multiplied out, half of one more is a square root: every operation is rounded to nearest,
// keeps the order of its operands, and is off by half a unit in the last place, so that x^p is off by p of these halves.
// All other exponents go through 2^(p log2 x) in double, without fused multiply-adds.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::core {

/// log2 of a positive finite number, off by at most 1.3 * 2^-53 + |log2 x| * 2^-53.
///
/// x = 2^k m with m in [c, c + 1/128), c one of 128 numbers from 1 to 2, and log2 m = log2 c + 2/ln 2 atanh(s) with
/// s = (m - c) / (m + c) < 1/257. The difference is exact, the quotient off by a relative 2^-52, the series, whose next
/// term is below 6e-18, by a few roundings of a number below 0.012; log2 c and the sum are each off by 2^-54.
///
/// Monotone: as m goes to the next double, m - c grows by a factor of at least 1 + 128 * 2^-52 and m + c, as rounded, by
/// at most 1 + 2^-52, so the quotient does not fall; the series has positive terms only, and each rounding keeps the
/// order; no value is above log2 of the next c, or k + 1.
KITH_HOST_DEVICE inline double binary_logarithm(double x) {
  static constexpr double kLogs[129] = {
      0, 0x1.6fe50b6ef0851p-7, 0x1.6e79685c2d22ap-6, 0x1.11cd1d5133413p-5, 0x1.6bad3758efd87p-5, 0x1.c4dfab90aab5fp-5,
      0x1.0eb389fa29f9bp-4, 0x1.3aa2fdd27f1c3p-4, 0x1.663f6fac91316p-4, 0x1.918a16e46335bp-4, 0x1.bc84240adabbap-4,
      0x1.e72ec117fa5b2p-4, 0x1.08c588cda79e4p-3, 0x1.1dcd197552b7bp-3, 0x1.32ae9e278ae1ap-3, 0x1.476a9f983f74dp-3,
      0x1.5c01a39fbd688p-3, 0x1.70742d4ef027fp-3, 0x1.84c2bd02f03b3p-3, 0x1.98edd077e70dfp-3, 0x1.acf5e2db4ec94p-3,
      0x1.c0db6cdd94deep-3, 0x1.d49ee4c325970p-3, 0x1.e840be74e6a4dp-3, 0x1.fbc16b902680ap-3, 0x1.0790adbb03009p-2,
      0x1.11307dad30b76p-2, 0x1.1ac05b291f070p-2, 0x1.24407ab0e073ap-2, 0x1.2db10fc4d9aafp-2, 0x1.37124cea4cdedp-2,
      0x1.406463b1b0449p-2, 0x1.49a784bcd1b8bp-2, 0x1.52dbdfc4c96b3p-2, 0x1.5c01a39fbd688p-2, 0x1.6518fe4677ba7p-2,
      0x1.6e221cd9d0cdep-2, 0x1.771d2ba7efb3cp-2, 0x1.800a563161c54p-2, 0x1.88e9c72e0b226p-2, 0x1.91bba891f1709p-2,
      0x1.9a802391e232fp-2, 0x1.a33760a7f6051p-2, 0x1.abe18797f1f49p-2, 0x1.b47ebf73882a1p-2, 0x1.bd0f2e9e79031p-2,
      0x1.c592fad295b56p-2, 0x1.ce0a4923a587dp-2, 0x1.d6753e032ea0fp-2, 0x1.ded3fd442364cp-2, 0x1.e726aa1e754d2p-2,
      0x1.ef6d67328e220p-2, 0x1.f7a8568cb06cfp-2, 0x1.ffd799a83ff9bp-2, 0x1.03fda8b97997fp-1, 0x1.0809cf27f703dp-1,
      0x1.0c10500d63aa6p-1, 0x1.10113b153c8eap-1, 0x1.140c9faa1e544p-1, 0x1.18028cf72976ap-1, 0x1.1bf311e95d00ep-1,
      0x1.1fde3d30e8126p-1, 0x1.23c41d42727c8p-1, 0x1.27a4c0585cbf8p-1, 0x1.2b803473f7ad1p-1, 0x1.2f56875eb3f26p-1,
      0x1.3327c6ab49ca7p-1, 0x1.36f3ffb6d9162p-1, 0x1.3abb3faa02167p-1, 0x1.3e7d9379f7016p-1, 0x1.423b07e986aa9p-1,
      0x1.45f3a98a20739p-1, 0x1.49a784bcd1b8bp-1, 0x1.4d56a5b33cec4p-1, 0x1.510118708a8f9p-1, 0x1.54a6e8ca5438ep-1,
      0x1.5848226989d34p-1, 0x1.5be4d0cb51435p-1, 0x1.5f7cff41e09afp-1, 0x1.6310b8f553048p-1, 0x1.66a008e4788ccp-1,
      0x1.6a2af9e5a0f0ap-1, 0x1.6db196a76194ap-1, 0x1.7133e9b156c7cp-1, 0x1.74b1fd64e0754p-1, 0x1.782bdbfdda657p-1,
      0x1.7ba18f93502e4p-1, 0x1.7f1322182cf16p-1, 0x1.82809d5be7073p-1, 0x1.85ea0b0b27b26p-1, 0x1.894f74b06ef8bp-1,
      0x1.8cb0e3b4b3bbep-1, 0x1.900e6160002cdp-1, 0x1.9367f6da0ab2fp-1, 0x1.96bdad2acb5f6p-1, 0x1.9a0f8d3b0e050p-1,
      0x1.9d5d9fd5010b3p-1, 0x1.a0a7eda4c112dp-1, 0x1.a3ee7f38e181fp-1, 0x1.a7315d02f20c8p-1, 0x1.aa708f58014d3p-1,
      0x1.adac1e711c833p-1, 0x1.b0e4126bcc86cp-1, 0x1.b418734a9008cp-1, 0x1.b74948f5532dap-1, 0x1.ba769b39e4964p-1,
      0x1.bda071cc67e6ep-1, 0x1.c0c6d447c5dd3p-1, 0x1.c3e9ca2e1a055p-1, 0x1.c7095ae91e1c7p-1, 0x1.ca258dca93316p-1,
      0x1.cd3e6a0ca8907p-1, 0x1.d053f6d260896p-1, 0x1.d3663b27f31d5p-1, 0x1.d6753e032ea0fp-1, 0x1.d9810643d6615p-1,
      0x1.dc899ab3ff56cp-1, 0x1.df8f02086af2cp-1, 0x1.e29142e0e0140p-1, 0x1.e59063c8822cep-1, 0x1.e88c6b3626a73p-1,
      0x1.eb855f8ca88fbp-1, 0x1.ee7b471b3a950p-1, 0x1.f16e281db7630p-1, 0x1.f45e08bcf0655p-1, 0x1.f74aef0efafaep-1,
      0x1.fa34e1177c233p-1, 0x1.fd1be4c7f2af9p-1, 0x1p0};
  constexpr double kLeastNormal = std::numeric_limits<double>::min();
  const bool is_tiny = x < kLeastNormal;
  const auto bits = std::bit_cast<std::uint64_t>(is_tiny ? x * 0x1p54 : x);
  const int exponent = static_cast<int>(bits >> 52) - (is_tiny ? 1023 + 54 : 1023);
  const auto segment = static_cast<std::uint32_t>(bits >> 45) & 127;
  const double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  const double c = 1 + segment * 0x1p-7;
  const double s = (m - c) / (m + c), square = s * s;
  // 2 / ln 2 (1 + s^2 / 3 + s^4 / 5)
  const double sum = 0x1.71547652b82fep+1 + square * (0x1.ec709dc3a03fdp-1 + square * 0x1.2776c50ef9bfep-1);
  const double fraction = kLogs[segment] + s * sum, most = kLogs[segment + 1];
  return exponent + (fraction < most ? fraction : most);
}

/// 2^t, off by a relative 2.2 * 2^-53, or by half of the smallest number.
///
/// t = i / 128 + r with r in [0, 1/128): 2^t = 2^(i/128) (1 + r ln 2 + …), a series of positive terms of which those
/// left out are below 1e-19. Monotone like the logarithm: no value is above that of the next i.
KITH_HOST_DEVICE inline double binary_power(double t) {
  static constexpr double kPowers[129] = {
      0x1p0, 0x1.0163da9fb3335p0, 0x1.02c9a3e778061p0, 0x1.04315e86e7f85p0, 0x1.059b0d3158574p0, 0x1.0706b29ddf6dep0,
      0x1.0874518759bc8p0, 0x1.09e3ecac6f383p0, 0x1.0b5586cf9890fp0, 0x1.0cc922b7247f7p0, 0x1.0e3ec32d3d1a2p0,
      0x1.0fb66affed31bp0, 0x1.11301d0125b51p0, 0x1.12abdc06c31ccp0, 0x1.1429aaea92de0p0, 0x1.15a98c8a58e51p0,
      0x1.172b83c7d517bp0, 0x1.18af9388c8deap0, 0x1.1a35beb6fcb75p0, 0x1.1bbe084045cd4p0, 0x1.1d4873168b9aap0,
      0x1.1ed5022fcd91dp0, 0x1.2063b88628cd6p0, 0x1.21f49917ddc96p0, 0x1.2387a6e756238p0, 0x1.251ce4fb2a63fp0,
      0x1.26b4565e27cddp0, 0x1.284dfe1f56381p0, 0x1.29e9df51fdee1p0, 0x1.2b87fd0dad990p0, 0x1.2d285a6e4030bp0,
      0x1.2ecafa93e2f56p0, 0x1.306fe0a31b715p0, 0x1.32170fc4cd831p0, 0x1.33c08b26416ffp0, 0x1.356c55f929ff1p0,
      0x1.371a7373aa9cbp0, 0x1.38cae6d05d866p0, 0x1.3a7db34e59ff7p0, 0x1.3c32dc313a8e5p0, 0x1.3dea64c123422p0,
      0x1.3fa4504ac801cp0, 0x1.4160a21f72e2ap0, 0x1.431f5d950a897p0, 0x1.44e086061892dp0, 0x1.46a41ed1d0057p0,
      0x1.486a2b5c13cd0p0, 0x1.4a32af0d7d3dep0, 0x1.4bfdad5362a27p0, 0x1.4dcb299fddd0dp0, 0x1.4f9b2769d2ca7p0,
      0x1.516daa2cf6642p0, 0x1.5342b569d4f82p0, 0x1.551a4ca5d920fp0, 0x1.56f4736b527dap0, 0x1.58d12d497c7fdp0,
      0x1.5ab07dd485429p0, 0x1.5c9268a5946b7p0, 0x1.5e76f15ad2148p0, 0x1.605e1b976dc09p0, 0x1.6247eb03a5585p0,
      0x1.6434634ccc320p0, 0x1.6623882552225p0, 0x1.68155d44ca973p0, 0x1.6a09e667f3bcdp0, 0x1.6c012750bdabfp0,
      0x1.6dfb23c651a2fp0, 0x1.6ff7df9519484p0, 0x1.71f75e8ec5f74p0, 0x1.73f9a48a58174p0, 0x1.75feb564267c9p0,
      0x1.780694fde5d3fp0, 0x1.7a11473eb0187p0, 0x1.7c1ed0130c132p0, 0x1.7e2f336cf4e62p0, 0x1.80427543e1a12p0,
      0x1.82589994cce13p0, 0x1.8471a4623c7adp0, 0x1.868d99b4492edp0, 0x1.88ac7d98a6699p0, 0x1.8ace5422aa0dbp0,
      0x1.8cf3216b5448cp0, 0x1.8f1ae99157736p0, 0x1.9145b0b91ffc6p0, 0x1.93737b0cdc5e5p0, 0x1.95a44cbc8520fp0,
      0x1.97d829fde4e50p0, 0x1.9a0f170ca07bap0, 0x1.9c49182a3f090p0, 0x1.9e86319e32323p0, 0x1.a0c667b5de565p0,
      0x1.a309bec4a2d33p0, 0x1.a5503b23e255dp0, 0x1.a799e1330b358p0, 0x1.a9e6b5579fdbfp0, 0x1.ac36bbfd3f37ap0,
      0x1.ae89f995ad3adp0, 0x1.b0e07298db666p0, 0x1.b33a2b84f15fbp0, 0x1.b59728de5593ap0, 0x1.b7f76f2fb5e47p0,
      0x1.ba5b030a1064ap0, 0x1.bcc1e904bc1d2p0, 0x1.bf2c25bd71e09p0, 0x1.c199bdd85529cp0, 0x1.c40ab5fffd07ap0,
      0x1.c67f12e57d14bp0, 0x1.c8f6d9406e7b5p0, 0x1.cb720dcef9069p0, 0x1.cdf0b555dc3fap0, 0x1.d072d4a07897cp0,
      0x1.d2f87080d89f2p0, 0x1.d5818dcfba487p0, 0x1.d80e316c98398p0, 0x1.da9e603db3285p0, 0x1.dd321f301b460p0,
      0x1.dfc97337b9b5fp0, 0x1.e264614f5a129p0, 0x1.e502ee78b3ff6p0, 0x1.e7a51fbc74c83p0, 0x1.ea4afa2a490dap0,
      0x1.ecf482d8e67f1p0, 0x1.efa1bee615a27p0, 0x1.f252b376bba97p0, 0x1.f50765b6e4540p0, 0x1.f7bfdad9cbe14p0,
      0x1.fa7c1819e90d8p0, 0x1.fd3c22b8f71f1p0, 0x1p1};
  const double scaled = 128 * (t < 1100 ? t > -1100 ? t : -1100.0 : 1100.0);
  int i = static_cast<int>(scaled);
  if (scaled < i) --i;
  const double r = (scaled - i) * 0x1p-7, square = r * r;  // exact, but for the square
  // (ln 2)^n / n! r^(n - 1) for n = 1 to 6
  const double first = 0x1.62e42fefa39efp-1 + 0x1.ebfbdff82c58fp-3 * r;
  const double second = 0x1.c6b08d704a0c0p-5 + 0x1.3b2ab6fba4e77p-7 * r;
  const double third = 0x1.5d87fe78a6731p-10 + 0x1.430912f86c787p-13 * r;
  const double sum = first + square * (second + square * third);
  const double power = kPowers[i & 127], most = kPowers[(i & 127) + 1];
  const double sought = power + power * (r * sum), value = sought < most ? sought : most;
  const int exponent = i >> 7;
  const auto power_of_two = [](int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); };
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
    if (!(p >= 1 && p <= kMostMultiplied && 2 * p == static_cast<int>(2 * p))) return;
    whole_ = static_cast<std::uint32_t>(p);
    is_half_ = p != whole_;
  }

  KITH_HOST_DEVICE double value() const { return p_; }
  /// Multiplied out this often, after the square root if so; 0: by logarithms.
  KITH_HOST_DEVICE std::uint32_t whole() const { return whole_; }
  KITH_HOST_DEVICE bool has_root() const { return is_half_; }

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
  double p_ = 1;
  std::uint32_t whole_ = 0;
  bool is_half_ = false;
};

}  // namespace kith::core
