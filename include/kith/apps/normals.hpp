// Normals of point clouds, and how much their surfaces bend, from the neighbours of each point.
#pragma once

#include <kith/device.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kith::apps::inline v0 {

/// Which of its two directions a normal has.
///
/// `axis`: its largest component is positive. `viewpoint`: towards NormalsOptions::viewpoint. `consistent`: as those of
/// its neighbours. Normals are passed on along a minimum spanning tree of the neighbours' graph, whose edges are the
/// shorter the more alike two normals are; in each connected part the highest point (the greatest last coordinate, then
/// the lowest number) has its normal upwards.
enum class NormalDirection : std::uint8_t { axis, viewpoint, consistent };

/// "axis", "viewpoint" or "consistent".
KITH_EXPORT std::string_view name_of(NormalDirection direction);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT NormalDirection parse_normal_direction(std::string_view text);

struct NormalsOptions {
  /// The plane of a point is fitted to so many nearest points, itself included; at least the dims.
  std::uint32_t neighbors = 16;
  /// Unset: the neighbours above. Set: all points within this distance, however many.
  std::optional<double> radius = {};
  NormalDirection direction = NormalDirection::axis;
  std::array<double, 3> viewpoint = {0, 0, 0};
  /// Give rows with NaN or infinity a normal of 0 instead of throwing.
  bool skip_nonfinite = false;
  /// Where neighbours are searched. The result does not depend on it.
  Device device = Device::automatic();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// All of the type of the points, row by row as they are.
struct Normals {
  /// rows x dims: of length 1, or 0 where fewer points than dims are neighbours, or all of them are in one place.
  PointSet normals;
  /// rows x 1: the share of the least eigenvalue of the neighbours' covariance in the sum of all, from 0 (a plane) to
  /// 1/dims.
  PointSet curvature;
  std::uint64_t without = 0;  ///< rows whose normal is 0
};

/// Normals of points in 2 or 3 dims: the eigenvector of the least eigenvalue of the covariance of the neighbours,
/// computed in double in a fixed order and rounded once, so that it has the same bytes on every device.
///
/// Takes one search for all points and, beside the result, 8 bytes per neighbour, for at most 16 million neighbours at
/// a time; `consistent` takes 20 bytes per neighbour. Throws BadData on NaN or infinity, UsageError for other dims or
/// options that make no sense, DeviceError, OutOfMemory, Interrupted.
KITH_EXPORT Normals normals(PointView points, const NormalsOptions& options = {});

}  // namespace kith::apps::inline v0
