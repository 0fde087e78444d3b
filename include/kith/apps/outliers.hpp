// Points of a cloud that lie apart from the others.
#pragma once

#include <kith/device.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::apps::inline v0 {

/// Either `neighbors` or `radius` must be set.
struct OutlierOptions {
  /// Statistical rule: per point the mean distance to its so many nearest others; points whose mean is above
  /// mean + ratio * standard deviation of those of all points are outliers. As StatisticalOutlierRemoval of PCL.
  std::optional<std::uint32_t> neighbors = {};
  double ratio = 2;
  /// Rule of density: points with fewer than `min_neighbors` others within this distance are outliers.
  std::optional<double> radius = {};
  std::uint32_t min_neighbors = 1;
  /// Leave out points with NaN or infinity instead of throwing.
  bool skip_nonfinite = false;
  /// Where neighbours are searched. The result does not depend on it.
  Device device = Device::automatic();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

struct Outliers {
  /// 1 per point that is an outlier or was left out, else 0.
  std::vector<std::uint8_t> flags;
  /// The rows of the others, ascending.
  std::vector<std::uint32_t> kept;
  /// Statistical rule: per point the mean distance to its neighbours; NaN for points that were left out. Else empty.
  std::vector<double> mean_distances;
  /// Statistical rule: mean and standard deviation of those, and the largest mean distance of points that are kept.
  double mean = 0;
  double deviation = 0;
  double threshold = 0;
  /// Rule of density: how many others are within the radius; 0 for points that were left out. Else empty.
  std::vector<std::uint32_t> counts;
  /// Points left out because of NaN or infinity.
  std::uint64_t skipped = 0;
};

/// Distances are L2, as in `Index`; the point itself does not count, equal ones do. Statistical rule: distances are
/// added in f64, nearest first, and divided by their number, which is less than `neighbors` if there are fewer others
/// (0: the mean is 0). Mean and deviation are sums in the order of core/cloud/ordered_sum.hpp; the deviation is that of
/// a sample, the root of the sum of (d - mean)^2 divided by n - 1, and 0 for one point. An index over the points and a
/// search; 8 bytes per point and per neighbour of up to a million points at a time. Throws BadData on NaN or infinity,
/// or if distances overflow, UsageError on options that make no sense, OutOfMemory, DeviceError, Interrupted.
KITH_EXPORT Outliers outliers(PointView points, const OutlierOptions& options);

}  // namespace kith::apps::inline v0
