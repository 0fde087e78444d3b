// The parameters of metrics that have some: weights, variances, an inverse covariance matrix; and what rows are
// multiplied by for them.
#pragma once

#include "core/metric/row_map.hpp"

#include <kith/metric.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::core {

/// The dims of the caller's rows in an index that searches rows of `searched` dims.
inline std::uint32_t callers_dims(Metric metric, std::uint32_t searched) {
  return metric.info().dims == 0 ? searched : metric.info().dims;
}

/// Whether rows are searched as they are unless there are parameters.
bool has_plain_rows(Metric metric);

/// How rows are prepared under a metric with its parameters, for a search that knows nothing of either.
class RowPreparation {
 public:
  RowPreparation() = default;
  /// `dims` are the caller's. Throws UsageError for parameters that the metric does not have, or cannot use, and for
  /// dims that it does not have.
  RowPreparation(Metric metric, std::vector<double> params, std::uint32_t dims);

  const std::vector<double>& params() const { return params_; }
  RowMap map() const;
  bool is_plain() const { return map_.is_plain(); }

 private:
  std::vector<double> params_, values_;
  RowMap map_;  // without values
};

/// `params`, or if there are none the variances or the inverse covariance of `points`, which are in host memory, where
/// the metric needs such: of the finite rows, divided by one less than their count. Throws UsageError if the points
/// have none.
std::vector<double> params_for(Metric metric, std::span<const double> params, PointView points);

}  // namespace kith::core
