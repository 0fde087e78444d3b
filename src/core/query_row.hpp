// What becomes of a row before it is searched, on every device alike: is it good, its direction, its place on periodic
// axes.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::core {

/// Adds up x * 0, which is 0 for finite numbers and NaN for all others; the compiler turns it into vector code.
template <typename T>
KITH_HOST_DEVICE bool all_finite(const T* row, std::uint32_t dims) {
  T sum = 0;
  for (std::uint32_t d = 0; d < dims; ++d) sum += row[d] * T(0);
  return sum == T(0);
}

template <typename T>
KITH_HOST_DEVICE T squared_length(const T* row, std::uint32_t dims) {
  T length = 0;
  for (std::uint32_t d = 0; d < dims; ++d) length = fused_multiply_add(row[d], row[d], length);
  return length;
}

/// Under cosine and angular a row needs a direction: its squared length must be neither zero nor overflowed.
template <typename T>
KITH_HOST_DEVICE bool has_direction(const T* row, std::uint32_t dims) {
  const T length = squared_length(row, dims);
  return length > 0 && length < std::numeric_limits<T>::infinity();
}

/// A unit vector for those metrics: divides a row by the square root of its own chain, coordinate by coordinate.
template <typename T>
KITH_HOST_DEVICE void normalize_row(T* row, std::uint32_t dims) {
  const T length = square_root(squared_length(row, dims));
  for (std::uint32_t d = 0; d < dims; ++d) row[d] /= length;
}

/// The coordinate in [0, length) that is the same place on a periodic axis. 0 and the length are one place, so what
/// rounding pushes out of the interval becomes 0.
template <typename T>
KITH_HOST_DEVICE T wrapped(T x, T length) {
  using std::floor;
  if ((x >= 0 && x < length) || length == std::numeric_limits<T>::infinity()) return x;
  const T inside = x - floor(x / length) * length;
  return inside >= 0 && inside < length ? inside : T(0);
}

}  // namespace kith::core
