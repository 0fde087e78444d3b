// Clouds that are awkward for jobs on them: ties, copies, planes, far from the origin.
#pragma once

#include <kith/point_set.hpp>

#include <cmath>
#include <cstdint>
#include <random>

namespace kith::test {

/// By shape (0 to 5): anywhere, a wavy surface, a grid whose distances tie, copies of few points, a flat plane, a cloud
/// far from the origin.
template <typename T>
PointSet awkward_cloud(std::uint64_t rows, std::uint32_t dims, std::uint64_t seed, std::uint64_t shape) {
  std::mt19937_64 random(seed);
  PointSet points(dtype_of<T>, rows, dims);
  for (std::uint64_t i = 0; i < rows; ++i) {
    T* row = points.values<T>().data() + i * dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const double draw = static_cast<double>(random() % 1000003) / 1000003 - 0.25;
      row[d] = static_cast<T>(shape == 2   ? std::floor(draw * 16) / 16
                              : shape == 3 ? std::floor(draw * 3)
                              : shape == 5 ? draw + 1e4 * (d + 1)
                                           : draw);
    }
    if (shape == 1) row[dims - 1] = row[0] * row[0] / T(3) - row[0] / T(8);
    if (shape == 4) row[dims - 1] = T(0.5);
  }
  return points;
}
inline constexpr std::uint64_t kAwkwardShapes = 6;

}  // namespace kith::test
