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

template <typename T>
KITH_HOST_DEVICE T absolute(T x) {
  return x < T(0) ? -x : x;
}

template <typename T>
KITH_HOST_DEVICE T larger(T a, T b) {
  return a < b ? b : a;
}

}  // namespace kith::core
