// Where a registration begins if nothing is known of the pose.
#pragma once

#include "core/cloud/registration_plan.hpp"

#include <kith/apps/registration.hpp>
#include <kith/point_set.hpp>

namespace kith::apps::inline v0 {

/// Of clouds without NaN and infinity, of one type and 2 or 3 dims.
template <typename T>
GlobalStart find_start(const PointSet& source, const core::CloudExtent& source_extent, const PointSet& target,
                       const core::CloudExtent& target_extent, const RegistrationOptions& options);

}  // namespace kith::apps::inline v0
