// How many pairs of points of two trees lie within each of many radii, or how much they weigh.
#pragma once

#include "spatial_tree.hpp"

#include <kith/metric.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::python {

struct PairRequest {
  const SpatialTree& first;
  const SpatialTree& second;
  std::span<const double> radii;   ///< ascending
  Metric metric;                   ///< l2, l1, linf or lp
  std::span<const double> period;  ///< for each dimension, 0: it does not wrap; or empty
  int threads = 0;                 ///< 0: all cores; changes nothing but the time
  ProgressCallback progress = {};
};

/// The pairs whose distance is at most radii[i], less those that are within radii[i - 1]. Whole cells are counted at
/// once where they can be. Throws Interrupted.
std::vector<std::int64_t> count_pairs(const PairRequest& request);
/// The same with the sum of the products of weights, one for each point.
std::vector<double> weigh_pairs(const PairRequest& request, std::span<const double> first_weights,
                                std::span<const double> second_weights);

}  // namespace kith::python
