// What a pose does, in words: a turn about an axis, a shift, a scale.
#pragma once

#include <kith/apps/pose.hpp>

#include <array>
#include <string>
#include <vector>

namespace kith::cli {

/// The parts of a pose.
struct PoseParts {
  double degrees = 0;                      ///< of the turn, 0 to 180; in a plane -180 to 180, counter-clockwise
  std::array<double, 3> axis = {0, 0, 1};  ///< of the turn, of length 1
  std::array<double, 3> shift = {};        ///< where the origin goes
  double scale = 1;
};

PoseParts parts_of(const apps::Pose& pose, std::uint32_t dims);

/// How far the pose moves a point that it takes to `there`.
std::array<double, 3> motion_to(const apps::Pose& pose, const std::array<double, 3>& there);

double length_of(const std::array<double, 3>& vector);

/// "Turn by 3° about (0, 0, 1)." and the others. `centre`: the middle of the source after the motion.
std::vector<std::string> pose_sentences(const apps::Pose& pose, std::uint32_t dims,
                                        const std::array<double, 3>& centre);

}  // namespace kith::cli
