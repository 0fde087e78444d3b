// Products of vectors of three f64 values, each operation rounded once and in one order.
#pragma once

#include "core/host_device.hpp"

namespace kith::core {

KITH_HOST_DEVICE inline double dot3(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

KITH_HOST_DEVICE inline void cross3(const double* a, const double* b, double* result) {
  result[0] = a[1] * b[2] - a[2] * b[1];
  result[1] = a[2] * b[0] - a[0] * b[2];
  result[2] = a[0] * b[1] - a[1] * b[0];
}

/// From a to b.
KITH_HOST_DEVICE inline void step3(const double* a, const double* b, double* result) {
  for (int d = 0; d < 3; ++d) result[d] = b[d] - a[d];
}

}  // namespace kith::core
