// The few operations that must round alike on every device.
#pragma once

#include "core/host_device.hpp"

#include <cmath>

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

}  // namespace kith::core
