// See cloud_checks.hpp.
#include "core/cloud/cloud_checks.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::core {
namespace {

void check_thread_count(int threads) {
  if (threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", threads));
}

void check_least_0(double value, const char* name) {
  if (!(value >= 0)) throw UsageError(fmt::format("the {} must be at least 0, not {}", name, value));
}

}  // namespace

void check_normals(std::uint32_t dims, const apps::NormalsOptions& options) {
  if (!options.radius && options.neighbors < dims) {
    throw UsageError(fmt::format("{} neighbours, the point included, define no plane in {} dims; take at least {}",
                                 options.neighbors, dims, dims));
  }
  if (options.radius) check_least_0(*options.radius, "radius");
  if (options.direction == apps::NormalDirection::viewpoint &&
      !std::all_of(options.viewpoint.begin(), options.viewpoint.end(), [](double x) { return std::isfinite(x); })) {
    throw UsageError("the viewpoint must be finite");
  }
  check_thread_count(options.threads);
}

void check_pose(const apps::Pose& pose) {
  for (std::uint32_t row = 0; row < 4; ++row) {
    for (std::uint32_t column = 0; column < 4; ++column) {
      if (std::isfinite(pose(row, column))) continue;
      throw BadData(fmt::format("pose: row {}, column {} (counted from 0) is {}", row, column,
                                std::isnan(pose(row, column)) ? "NaN" : "infinity"));
    }
  }
  if (pose(3, 0) != 0 || pose(3, 1) != 0 || pose(3, 2) != 0 || pose(3, 3) != 1) {
    throw UsageError(fmt::format("pose: the last row is {} {} {} {}, but must be 0 0 0 1; is the matrix transposed?",
                                 pose(3, 0), pose(3, 1), pose(3, 2), pose(3, 3)));
  }
}

void check_motion(PointView points, const apps::Pose& pose, const apps::TransformOptions& options) {
  check_pose(pose);
  if (!points.empty() && points.dims() != 2 && points.dims() != 3) {
    throw UsageError(fmt::format("the points have {} dims, but a pose moves those of 2 or 3; choose the coordinates",
                                 points.dims()));
  }
  check_thread_count(options.threads);
}

void check_sampling(PointView points, const apps::DownsampleOptions& options) {
  if (int(options.voxel.has_value()) + int(options.farthest.has_value()) + int(options.distance.has_value()) != 1) {
    throw UsageError("give one of a voxel size, a number of farthest points and a distance");
  }
  if (options.voxel && !(*options.voxel > 0 && std::isfinite(*options.voxel))) {
    throw UsageError(fmt::format("the size of voxels must be above 0 and finite, not {}", *options.voxel));
  }
  if (options.distance) check_least_0(*options.distance, "distance");
  if (options.farthest && !points.empty() && options.start >= points.rows()) {
    throw UsageError(fmt::format("start: row {} of {} points was asked for", options.start, points.rows()));
  }
  check_thread_count(options.threads);
}

void check_cloud_distance(PointView first, PointView second, const apps::CloudDistanceOptions& options) {
  if (!first.empty() && !second.empty() && (first.dims() != second.dims() || first.dtype() != second.dtype())) {
    throw UsageError(fmt::format("the first cloud has {} dims of {}, the second {} of {}; they must be the same",
                                 first.dims(), name_of(first.dtype()), second.dims(), name_of(second.dtype())));
  }
  check_least_0(options.max_distance, "largest distance");
  for (const double p : options.percentiles) {
    if (!(p >= 0 && p <= 100)) throw UsageError(fmt::format("a percentile must be from 0 to 100, not {}", p));
  }
  check_thread_count(options.threads);
}

void check_outliers(const apps::OutlierOptions& options) {
  if (options.neighbors.has_value() == options.radius.has_value()) {
    throw UsageError("give either a number of neighbours or a radius");
  }
  if (options.neighbors && *options.neighbors == 0) throw UsageError("the number of neighbours must be at least 1");
  if (options.neighbors && !std::isfinite(options.ratio)) {
    throw UsageError(fmt::format("the ratio must be finite, not {}", options.ratio));
  }
  if (options.radius) check_least_0(*options.radius, "radius");
  check_thread_count(options.threads);
}

void throw_distance_overflow(DType dtype) {
  throw BadData(fmt::format("points: distances between them overflow {}{}", name_of(dtype),
                            dtype == DType::f32 ? "; convert them to f64" : "; scale them"));
}

std::uint64_t rank_of_percentile(double percentile, std::uint64_t matched) {
  const double share = std::ceil(percentile * static_cast<double>(matched) / 100);
  return static_cast<std::uint64_t>(std::clamp(share, 1.0, static_cast<double>(matched)));
}

}  // namespace kith::core
