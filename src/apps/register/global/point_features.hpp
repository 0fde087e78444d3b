// What the surface around each point looks like, in numbers that no motion changes.
#pragma once

#include "apps/register/global/feature_cloud.hpp"

#include <kith/neighbors.hpp>

namespace kith::apps::inline v0 {

/// Around a point, in sides of voxels: what its plane is fitted to, and what its descriptor sees. A curve has fewer
/// points within a radius than a surface.
inline double normal_radius(std::uint32_t dims) { return dims == 2 ? 3 : 2.5; }
inline double feature_radius(std::uint32_t dims) { return dims == 2 ? 10 : 4; }

/// Sets `featured` and `features`, and turns normals to the side where fewer neighbours are. `lists` are the points
/// within feature_radius of each point, itself included.
void describe_points(FeatureCloud& cloud, const NeighborLists& lists, int threads);

}  // namespace kith::apps::inline v0
