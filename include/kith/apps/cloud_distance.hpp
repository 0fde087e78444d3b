// How far one point cloud is from another.
#pragma once

#include <kith/device.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace kith::apps::inline v0 {

struct CloudDistanceOptions {
  /// Whether distances from the second cloud to the first are computed, too.
  bool symmetric = false;
  /// Points whose nearest point is farther than this have none: they count as unmatched, and in no other figure.
  double max_distance = std::numeric_limits<double>::infinity();
  /// From 0 to 100.
  std::vector<double> percentiles = {};
  /// Leave out points with NaN or infinity, of both clouds, instead of throwing.
  bool skip_nonfinite = false;
  /// Where neighbours are searched. The result does not depend on it.
  Device device = Device::automatic();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

/// The distances from each point of a cloud to the nearest point of another. Figures are NaN if no point is matched.
struct DirectedDistance {
  /// Per point; infinity if it is unmatched, NaN if it was left out. Distances of f32 are widened.
  std::vector<double> distances;
  /// Per point the row of its nearest point, ties to the lowest; 2^32 - 1 if there is none.
  std::vector<std::uint32_t> nearest;
  std::uint64_t matched = 0;
  std::uint64_t unmatched = 0;
  std::uint64_t skipped = 0;          ///< points that were left out
  std::uint64_t skipped_targets = 0;  ///< points of the other cloud that were left out
  double mean = 0;
  double mean_squared = 0;             ///< of the squares of the distances
  double rms = 0;                      ///< the root of that
  double max = 0;                      ///< the directed Hausdorff distance
  std::uint32_t max_row = 0xffffffff;  ///< the first row at that distance; 2^32 - 1 if no point is matched
  /// One per percentile that was asked for, by nearest rank: the smallest distance such that at least p percent of the
  /// matched points are at most as far; for 0 the smallest of all.
  std::vector<double> percentiles;
};

struct CloudDistance {
  DirectedDistance forward;                  ///< from the first cloud to the second
  std::optional<DirectedDistance> backward;  ///< and back, if it was asked for
  /// With `backward`: the sum of both means of distances, and the sum of both means of squared distances. Both are
  /// known as the Chamfer distance.
  double chamfer = 0;
  double chamfer_squared = 0;
  double hausdorff = 0;  ///< with `backward`: the larger of both maxima
};

/// Distances are L2, exact, as those of `Index::knn` with k = 1. Sums are in f64, in the order of
/// core/cloud/ordered_sum.hpp; a distance is squared in f64. The clouds must have the same type and dims.
/// An index and a search for each direction; 12 bytes per point for the answer, 12 more for percentiles.
/// Throws BadRow, whose array is "first" or "second", on NaN or infinity, UsageError on options that make no sense,
/// OutOfMemory, DeviceError, Interrupted.
KITH_EXPORT CloudDistance cloud_distance(PointView first, PointView second, const CloudDistanceOptions& options = {});

}  // namespace kith::apps::inline v0
