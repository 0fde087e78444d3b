// See pose_words.hpp.
#include "report/pose_words.hpp"

#include "registration_flags.hpp"
#include "report/shown.hpp"

#include <kith/apps/transform.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kith::cli {
namespace {

using Vector = std::array<double, 3>;

constexpr double kDegrees = 180 / std::numbers::pi;
/// Sines below this leave the axis of a half turn to the other formula.
constexpr double kNearHalfTurn = 1e-6;

Vector over(const Vector& vector, double length) {
  return {vector[0] / length, vector[1] / length, vector[2] / length};
}

/// Of a turn by nearly 180 degrees: the column of (turn + 1) / 2 = axis * axis^T with the longest axis in it.
Vector axis_of_half_turn(const std::array<Vector, 3>& turn) {
  std::size_t longest = 0;
  for (std::size_t i = 1; i < 3; ++i) {
    if (turn[i][i] > turn[longest][longest]) longest = i;
  }
  Vector axis{};
  for (std::size_t i = 0; i < 3; ++i) axis[i] = (turn[i][longest] + turn[longest][i] + (i == longest ? 2 : 0)) / 4;
  return over(axis, length_of(axis));
}

std::string vector_text(const Vector& vector, std::uint32_t dims) {
  std::string words = "(";
  for (std::uint32_t i = 0; i < dims; ++i) words += (i > 0 ? ", " : "") + shown(vector[i]);
  return words + ")";
}

}  // namespace

double length_of(const Vector& vector) { return std::hypot(vector[0], vector[1], vector[2]); }

PoseParts parts_of(const apps::Pose& pose, std::uint32_t dims) {
  PoseParts parts;
  for (std::uint32_t i = 0; i < 3; ++i) parts.shift[i] = pose(i, 3);
  parts.scale = length_of({pose(0, 0), pose(1, 0), pose(2, 0)});
  if (dims == 2) {
    parts.scale = std::hypot(pose(0, 0), pose(1, 0));
    parts.degrees = std::atan2(pose(1, 0), pose(0, 0)) * kDegrees;
    return parts;
  }
  std::array<Vector, 3> turn{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    for (std::uint32_t j = 0; j < 3; ++j) turn[i][j] = pose(i, j) / parts.scale;
  }
  const Vector twist = {turn[2][1] - turn[1][2], turn[0][2] - turn[2][0], turn[1][0] - turn[0][1]};
  const double sine = length_of(twist) / 2, cosine = (turn[0][0] + turn[1][1] + turn[2][2] - 1) / 2;
  parts.degrees = std::atan2(sine, cosine) * kDegrees;
  if (sine > kNearHalfTurn || (cosine > 0 && sine > 0)) {
    parts.axis = over(twist, 2 * sine);
  } else if (cosine < 0) {
    parts.axis = axis_of_half_turn(turn);
  }
  return parts;
}

Vector motion_to(const apps::Pose& pose, const Vector& there) {
  const apps::Pose back = apps::inverse(pose);
  Vector motion{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const double before = back(i, 0) * there[0] + back(i, 1) * there[1] + back(i, 2) * there[2] + back(i, 3);
    motion[i] = there[i] - before;
  }
  return motion;
}

std::vector<std::string> pose_sentences(const apps::Pose& pose, std::uint32_t dims, const Vector& centre) {
  const PoseParts parts = parts_of(pose, dims);
  std::vector<std::string> all;
  if (parts.degrees == 0) {
    all.push_back("No turn.");
  } else if (dims == 2) {
    all.push_back(fmt::format("Turn by {}° {}.", shown(std::abs(parts.degrees)),
                              parts.degrees > 0 ? "counter-clockwise" : "clockwise"));
  } else {
    all.push_back(fmt::format("Turn by {}° about the axis {}.", shown(parts.degrees), direction_text(parts.axis)));
  }
  all.push_back(fmt::format("Shift by {}, which is {} long: where the origin goes.", vector_text(parts.shift, dims),
                            shown(length_of(parts.shift))));
  if (std::abs(parts.scale - 1) > 1e-12) all.push_back(fmt::format("Scale by {}.", shown(parts.scale)));
  const Vector motion = motion_to(pose, centre);
  all.push_back(fmt::format("Together they move the middle of the matched points by {}, which is {} long.",
                            vector_text(motion, dims), shown(length_of(motion))));
  return all;
}

}  // namespace kith::cli
