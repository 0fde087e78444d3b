// Between the pose that users see and the motion between centred clouds that iterations change.
#pragma once

#include "core/cloud/motion.hpp"

#include <kith/apps/pose.hpp>

namespace kith::apps::inline v0 {

/// Throws UsageError unless the pose is finite, a rotation (to about 1e-3) times a positive scale, and a shift.
core::Motion motion_of(const Pose& pose, const core::Frame& frame);

Pose pose_of(const core::Motion& motion, const core::Frame& frame);

}  // namespace kith::apps::inline v0
