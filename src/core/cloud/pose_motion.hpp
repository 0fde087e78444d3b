// Between the pose that users see and the motion between centred clouds that iterations change.
#pragma once

#include "core/cloud/motion.hpp"

#include <kith/apps/pose.hpp>

namespace kith::core {

/// Throws UsageError unless the pose is finite, a rotation (to about 1e-3) times a positive scale, and a shift.
Motion motion_of(const apps::Pose& pose, const Frame& frame);

apps::Pose pose_of(const Motion& motion, const Frame& frame);

}  // namespace kith::core
