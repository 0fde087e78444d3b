// A motion of a cloud: rotation, translation and, where wanted, scale.
#pragma once

#include <array>
#include <cstdint>

namespace kith::apps::inline v0 {

/// A 4 x 4 matrix, row by row, that takes the homogeneous coordinates of a point to those of the moved point. Of clouds
/// in a plane it moves x and y; the row and the column of z are those of the identity.
struct Pose {
  std::array<double, 16> matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

  double operator()(std::uint32_t row, std::uint32_t column) const { return matrix[row * 4 + column]; }
  double& operator()(std::uint32_t row, std::uint32_t column) { return matrix[row * 4 + column]; }
  friend bool operator==(const Pose&, const Pose&) = default;
};

}  // namespace kith::apps::inline v0
