// What jobs on clouds refuse before they look into the points, the same on every device.
#pragma once

#include <kith/apps/cloud_distance.hpp>
#include <kith/apps/downsample.hpp>
#include <kith/apps/normals.hpp>
#include <kith/apps/outliers.hpp>
#include <kith/apps/pose.hpp>
#include <kith/apps/transform.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::core {

/// All throw UsageError; check_motion also BadData for a pose that is not finite.
void check_normals(std::uint32_t dims, const apps::NormalsOptions& options);
void check_pose(const apps::Pose& pose);
void check_motion(PointView points, const apps::Pose& pose, const apps::TransformOptions& options);
void check_sampling(PointView points, const apps::DownsampleOptions& options);
void check_cloud_distance(PointView first, PointView second, const apps::CloudDistanceOptions& options);
void check_outliers(const apps::OutlierOptions& options);

/// Throws BadData: distances between points exceed their type.
[[noreturn]] void throw_distance_overflow(DType dtype);

/// Whether a GPU computes such normals; otherwise it only searches for neighbours.
inline bool fits_planes_on_gpu(const apps::NormalsOptions& options) {
  return !options.radius && options.direction != apps::NormalDirection::consistent;
}

/// How many of `matched` distances are at most as large as that of the percentile, which is one of them.
std::uint64_t rank_of_percentile(double percentile, std::uint64_t matched);

}  // namespace kith::core
