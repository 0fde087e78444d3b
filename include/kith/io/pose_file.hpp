// Poses as files: text, NumPy arrays and JSON, as registration programs write them.
#pragma once

#include <kith/apps/pose.hpp>
#include <kith/export.hpp>

#include <string>

namespace kith::io::inline v0 {

/// Reads one pose; "-" is standard input. What the content is decides:
/// - text: 4 rows of 4 numbers, or 3 rows of 4; for a plane 3 rows of 3, or 2 of 3; or all 16, or 12 (as KITTI), in one
///   line. Numbers are separated by blanks, commas or semicolons; # begins a comment;
/// - a .npy array of one of these shapes;
/// - JSON: a list of rows, or of 16 or 12 numbers, by itself or as "transformation" of an object.
/// A pose of a plane leaves z alone. Throws BadData if a number is missing, not finite, or the last row is not 0 0 0 1
/// (0 0 1), CorruptFile on a damaged array, IoError.
KITH_EXPORT apps::Pose read_pose(const std::string& path);

/// Writes 4 rows of 4 numbers with 17 significant digits, which read back as the same numbers, as text; .npy is an
/// array of f64, .json an object with "transformation". "-" is standard output. Whole or not at all. Throws IoError,
/// UsageError unless the pose is finite with 0 0 0 1 as its last row.
KITH_EXPORT void write_pose(const std::string& path, const apps::Pose& pose);

}  // namespace kith::io::inline v0
