// Values by the mean of neighbours.
#pragma once

#include <kith/apps/neighbor_options.hpp>
#include <kith/point_view.hpp>

#include <span>
#include <vector>

namespace kith::apps::inline v0 {

struct Regressed {
  std::vector<double> values;  ///< one per query
  NeighborWork work;
};

/// Gives each query the mean of the values of its k nearest points, by weight. Sums run over the list of neighbours
/// from the nearest on, in f64.
///
/// Throws UsageError if k is 0 or above the number of points, or if values and points are not as many; BadData on NaN
/// or infinity, also among the values, or if there are queries but no points; else as Index::build and Index::knn.
KITH_EXPORT Regressed regress(PointView points, std::span<const double> values, PointView queries,
                              const NeighborOptions& options = {});

}  // namespace kith::apps::inline v0
