// See pose_motion.hpp.
#include "core/cloud/pose_motion.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>

namespace kith::core {
namespace {

/// The quaternion of a rotation matrix: the largest of its four components first, which is at least a half.
void set_quaternion(const double (&r)[3][3], double (&q)[4]) {
  const double squares[4] = {1 + r[0][0] + r[1][1] + r[2][2], 1 + r[0][0] - r[1][1] - r[2][2],
                             1 - r[0][0] + r[1][1] - r[2][2], 1 - r[0][0] - r[1][1] + r[2][2]};
  const auto largest = std::max_element(squares, squares + 4) - squares;
  const double products[4][4] = {{squares[0], r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]},
                                 {r[2][1] - r[1][2], squares[1], r[0][1] + r[1][0], r[0][2] + r[2][0]},
                                 {r[0][2] - r[2][0], r[0][1] + r[1][0], squares[2], r[1][2] + r[2][1]},
                                 {r[1][0] - r[0][1], r[0][2] + r[2][0], r[1][2] + r[2][1], squares[3]}};
  double length = 0;
  for (const double x : products[largest]) length += x * x;
  length = std::sqrt(length);
  for (int i = 0; i < 4; ++i) q[i] = products[largest][i] / length;
}

[[noreturn]] void throw_no_rotation() {
  throw UsageError(
      "the initial pose is no rigid motion: its upper left 3 x 3 must be a rotation, or a rotation times a scale");
}

}  // namespace

Motion motion_of(const apps::Pose& pose, const Frame& frame, std::uint32_t dims) {
  constexpr double kTolerance = 1e-3;
  if (!std::all_of(pose.matrix.begin(), pose.matrix.end(), [](double x) { return std::isfinite(x); })) {
    throw UsageError("the initial pose holds NaN or infinity");
  }
  if (pose(3, 0) != 0 || pose(3, 1) != 0 || pose(3, 2) != 0 || pose(3, 3) != 1) {
    throw UsageError("the initial pose is no rigid motion: its last row must be 0 0 0 1");
  }
  double r[3][3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) r[i][j] = pose(i, j);
  }
  if (dims == 2) {
    if (r[0][2] != 0 || r[1][2] != 0 || r[2][0] != 0 || r[2][1] != 0 || r[2][2] != 1 || pose(2, 3) != 0) {
      throw UsageError(
          "the initial pose moves z, but the clouds have 2 dims: its third row and column must be 0 0 1 0");
    }
    r[2][2] = std::sqrt(r[0][0] * r[0][0] + r[1][0] * r[1][0]);  // the scale, as in the plane
  }
  const double determinant = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                             r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                             r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
  if (!(determinant > 0)) throw_no_rotation();
  double squares = 0;
  for (const auto& row : r) {
    for (const double x : row) squares += x * x;
  }
  double scale = std::sqrt(squares / 3);
  if (std::abs(scale - 1) < 1e-9) scale = 1;  // a rotation that was rounded
  for (auto& row : r) {
    for (double& x : row) x /= scale;
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      const double product = r[i][0] * r[j][0] + r[i][1] * r[j][1] + r[i][2] * r[j][2];
      if (std::abs(product - (i == j ? 1 : 0)) > kTolerance) throw_no_rotation();
    }
  }
  Motion motion;
  motion.scale = scale;
  set_quaternion(r, motion.quaternion);
  set_rotation(motion);
  double turned[3];
  rotate(motion.rotation, frame.source, turned);
  for (std::uint32_t d = 0; d < 3; ++d) motion.shift[d] = scale * turned[d] + pose(d, 3) - frame.target[d];
  return motion;
}

apps::Pose pose_of(const Motion& motion, const Frame& frame, std::uint32_t dims) {
  apps::Pose pose;
  double turned[3];
  rotate(motion.rotation, frame.source, turned);
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) pose(i, j) = motion.scale * motion.rotation[i * 3 + j];
    pose(i, 3) = frame.target[i] + (motion.shift[i] - motion.scale * turned[i]);
  }
  if (dims == 2) {
    for (std::uint32_t i = 0; i < 3; ++i) pose(2, i) = pose(i, 2) = 0;
    pose(2, 2) = 1;
    pose(2, 3) = 0;
  }
  return pose;
}

}  // namespace kith::core
