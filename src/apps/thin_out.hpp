// Keeps points in order so that no two kept ones are within a radius of each other.
#pragma once

#include "apps/equal_rows.hpp"

#include <kith/metric.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

struct ThinOutOptions {
  double radius = 0;
  Metric metric;
  std::vector<double> metric_params;
  RowOrder order;
  Device device = Device::cpu();  ///< for large searches
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// The rows that the plain loop over `rows` (ascending, all usable) keeps, in the order in which it keeps them.
std::vector<std::uint32_t> thin_out(PointView points, std::span<const std::uint32_t> rows,
                                    const ThinOutOptions& options);

/// Per row of `removed` the place in `kept` (what `thin_out` returned) of the first kept row within the radius.
std::vector<std::uint32_t> first_kept_within(PointView points, std::span<const std::uint32_t> removed,
                                             std::span<const std::uint32_t> kept, const ThinOutOptions& options);

}  // namespace kith::apps::inline v0
