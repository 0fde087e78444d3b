// A point, or a direction, moved by a pose: plain products and sums in f64 in one order, for CPU and GPU.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// The first kDims coordinates of the point moved by a 4 x 4 matrix (row by row): r0 * x + r1 * y + r2 * z + t from
/// left to right, each operation rounded to f64. In a plane the products with z are left out.
template <int kDims>
KITH_HOST_DEVICE void move_point(const double* matrix, const double* point, double* moved) {
  for (int i = 0; i < kDims; ++i) {
    const double* row = matrix + i * 4;
    double sum = row[0] * point[0];
    for (int j = 1; j < kDims; ++j) sum = sum + row[j] * point[j];
    moved[i] = sum + row[3];
  }
}

/// A direction turned by the matrix without the translation, its length as before: v = r0 * x + r1 * y + r2 * z, times
/// the length of the direction, divided by the length of v. A direction that the matrix leaves alone stays as it is.
template <int kDims>
KITH_HOST_DEVICE void turn_direction(const double* matrix, const double* direction, double* turned) {
  double before = 0, after = 0;
  for (int i = 0; i < kDims; ++i) {
    const double* row = matrix + i * 4;
    double sum = row[0] * direction[0];
    for (int j = 1; j < kDims; ++j) sum = sum + row[j] * direction[j];
    turned[i] = sum;
    before = before + direction[i] * direction[i];
    after = after + sum * sum;
  }
  if (before == after || !(after > 0)) return;
  const double factor = square_root(before) / square_root(after);
  for (int i = 0; i < kDims; ++i) turned[i] = turned[i] * factor;
}

}  // namespace kith::core
