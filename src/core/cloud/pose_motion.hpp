// Between the pose that users see and the motion between centred clouds that iterations change.
#pragma once

#include "core/cloud/motion.hpp"

#include <kith/apps/pose.hpp>

#include <cstdint>

namespace kith::core {

/// Throws UsageError unless the pose is finite, a rotation (to about 1e-3) times a positive scale, and a shift; in 2
/// dims it must leave z alone.
Motion motion_of(const apps::Pose& pose, const Frame& frame, std::uint32_t dims);

/// In 2 dims the row and the column of z are those of the identity.
apps::Pose pose_of(const Motion& motion, const Frame& frame, std::uint32_t dims);

}  // namespace kith::core
