// The order of points that makes a k-d tree unique: one coordinate first, then the others in turn, then the number.
#pragma once

#include <cstdint>

namespace kith::apps::inline v0 {

/// A point and its number.
template <typename T>
struct NumberedPoint {
  const T* coordinates;
  std::uint32_t number;
};

/// Whether `a` comes before `b` by (x_d, x_(d+1), …, x_(d-1), number). -0 equals +0; no coordinate is NaN.
template <typename T>
bool precedes(NumberedPoint<T> a, NumberedPoint<T> b, std::uint32_t dim, std::uint32_t dims) {
  for (std::uint32_t step = 0, d = dim; step < dims; ++step) {
    if (a.coordinates[d] != b.coordinates[d]) return a.coordinates[d] < b.coordinates[d];
    d = d + 1 == dims ? 0 : d + 1;
  }
  return a.number < b.number;
}

}  // namespace kith::apps::inline v0
