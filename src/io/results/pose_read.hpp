// Reads a pose from a file that is open, for read_pose and the fuzzer.
#pragma once

#include "runtime/input_file.hpp"

#include <kith/apps/pose.hpp>

namespace kith::io::inline v0 {

/// As `read_pose`.
apps::Pose read_pose_file(const runtime::InputFile& file);

}  // namespace kith::io::inline v0
