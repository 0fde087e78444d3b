// The few operations that must round alike on every device.
#pragma once

#include "core/host_device.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::core {

/// a * b + c, rounded once.
KITH_HOST_DEVICE inline float fused_multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

KITH_HOST_DEVICE inline double fused_multiply_add(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

/// The correctly rounded square root.
KITH_HOST_DEVICE inline float square_root(float x) {
#if defined(__CUDA_ARCH__)
  return __fsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

KITH_HOST_DEVICE inline double square_root(double x) {
#if defined(__CUDA_ARCH__)
  return __dsqrt_rn(x);
#else
  return std::sqrt(x);
#endif
}

KITH_HOST_DEVICE inline float absolute(float x) { return fabsf(x); }
KITH_HOST_DEVICE inline double absolute(double x) { return fabs(x); }

/// Of -0 and +0 either. In as few instructions as a GPU has for it.
template <typename T>
KITH_HOST_DEVICE T larger(T a, T b) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(float)) return fmaxf(a, b);
#endif
  return a < b ? b : a;
}

/// What has the bits of a number; those of numbers that are not negative ascend as the numbers do.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;

/// The next number towards 0, or towards infinity, of one that is not negative; at the end that number itself.
template <typename T>
KITH_HOST_DEVICE T next_below(T x) {
  return x > T(0) ? std::bit_cast<T>(std::bit_cast<BitsOf<T>>(x) - 1) : x;
}
template <typename T>
KITH_HOST_DEVICE T next_above(T x) {
  return x <= std::numeric_limits<T>::max() ? std::bit_cast<T>(std::bit_cast<BitsOf<T>>(x) + 1) : x;
}

/// |x - y| / (|x| + |y|), 0 for two zeros; never above 1. Halves of numbers whose sum overflows have the same ratio.
template <typename T>
KITH_HOST_DEVICE T relative_difference(T x, T y) {
  T apart = absolute(x - y), sum = absolute(x) + absolute(y);
  if (sum > std::numeric_limits<T>::max()) {
    apart = absolute(x / 2 - y / 2);
    sum = absolute(x / 2) + absolute(y / 2);
  }
  return sum > T(0) ? apart / sum : T(0);
}

/// a / b of two sums that are not negative: 0 for two zeros, 1 for two that overflowed.
template <typename T>
KITH_HOST_DEVICE T quotient(T a, T b) {
  return a == T(0) ? T(0) : a == b ? T(1) : a / b;
}

}  // namespace kith::core
