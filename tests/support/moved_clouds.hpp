// Clouds whose true motion is known: surfaces in 2 and 3 dims, random rigid motions, and how far a pose is from the
// truth.
#pragma once

#include <kith/apps/pose.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace kith::test {

/// Uniform in [low, high).
inline double draw(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

/// Points on a closed surface (in 2 dims a curve) with bumps, about 2 across, so that no direction is weak.
inline std::vector<double> bumpy_rows(std::uint64_t count, std::uint32_t dims, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double around = draw(random, 0, 6.283185307179586);
    const double height = dims == 3 ? draw(random, -1, 1) : 0;
    const double across = std::sqrt(1 - height * height);
    const double radius = 1 + 0.2 * std::sin(3 * around) * across + 0.15 * std::cos(5 * around + 4 * height) +
                          (dims == 3 ? 0.2 * std::sin(4 * height) : 0);
    rows.push_back(radius * across * std::cos(around));
    rows.push_back(0.7 * radius * across * std::sin(around));
    if (dims == 3) rows.push_back(0.8 * radius * height);
  }
  return rows;
}

/// A turn by `angle` about a random axis (z in 2 dims, or if `level`), a shift of length `shift`, a scale.
inline apps::Pose random_pose(std::uint32_t dims, double angle, double shift, std::mt19937_64& random, double scale = 1,
                              bool level = false) {
  double axis[3] = {0, 0, 1}, along[3] = {0, 0, 0};
  const auto fill_unit = [&](double* to, std::uint32_t axes) {
    double length = 0;
    for (std::uint32_t d = 0; d < axes; ++d) {
      to[d] = draw(random, -1, 1);
      length += to[d] * to[d];
    }
    for (std::uint32_t d = 0; d < axes; ++d) to[d] /= std::sqrt(length);
  };
  if (dims == 3 && !level) fill_unit(axis, 3);
  fill_unit(along, dims);
  apps::Pose pose;
  const double c = std::cos(angle), s = std::sin(angle);
  const double cross[3][3] = {{0, -axis[2], axis[1]}, {axis[2], 0, -axis[0]}, {-axis[1], axis[0], 0}};
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) {
      pose(i, j) = scale * ((i == j ? c : 0) + s * cross[i][j] + (1 - c) * axis[i] * axis[j]);
    }
    pose(i, 3) = shift * along[i];
  }
  if (dims == 2) {
    pose(2, 2) = 1;
    pose(2, 3) = 0;
  }
  return pose;
}

/// One row moved by a pose.
inline std::array<double, 3> moved_row(const apps::Pose& pose, const double* row, std::uint32_t dims) {
  std::array<double, 3> moved{};
  for (std::uint32_t i = 0; i < dims; ++i) {
    long double sum = pose(i, 3);
    for (std::uint32_t j = 0; j < dims; ++j) sum += static_cast<long double>(pose(i, j)) * row[j];
    moved[i] = static_cast<double>(sum);
  }
  return moved;
}

/// Where the rows were before the pose, which is a rotation times a scale and a shift, moved them.
inline std::vector<double> before(const apps::Pose& pose, const std::vector<double>& rows, std::uint32_t dims) {
  double squared_scale = 0;
  for (std::uint32_t i = 0; i < dims; ++i) squared_scale += pose(i, 0) * pose(i, 0);
  std::vector<double> result(rows.size());
  for (std::size_t row = 0; row < rows.size(); row += dims) {
    for (std::uint32_t j = 0; j < dims; ++j) {
      long double sum = 0;
      for (std::uint32_t i = 0; i < dims; ++i) {
        sum += static_cast<long double>(pose(i, j)) * (static_cast<long double>(rows[row + i]) - pose(i, 3));
      }
      result[row + j] = static_cast<double>(sum / squared_scale);
    }
  }
  return result;
}

inline PointSet points_of(const std::vector<double>& rows, std::uint32_t dims, DType dtype) {
  PointSet points(dtype, rows.size() / dims, dims);
  if (dtype == DType::f64) {
    std::copy(rows.begin(), rows.end(), points.values<double>().begin());
  } else {
    std::transform(rows.begin(), rows.end(), points.values<float>().begin(),
                   [](double x) { return static_cast<float>(x); });
  }
  return points;
}

/// The largest distance between where two poses move the same rows.
inline double apart(const apps::Pose& a, const apps::Pose& b, const std::vector<double>& rows, std::uint32_t dims) {
  double largest = 0;
  for (std::size_t row = 0; row < rows.size(); row += dims) {
    const auto x = moved_row(a, rows.data() + row, dims), y = moved_row(b, rows.data() + row, dims);
    largest = std::max(largest, std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
  }
  return largest;
}

inline bool is_finite(const apps::Pose& pose) {
  return std::all_of(pose.matrix.begin(), pose.matrix.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace kith::test
