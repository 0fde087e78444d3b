// Mahalanobis distance: L2 of rows times a triangular matrix U, where U^T U is the inverse covariance.
#pragma once

#include "core/metric/l2.hpp"

namespace kith::core {

struct Mahalanobis : L2 {
  using L2::L2;
  static constexpr RowForm kRows = RowForm::linear;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::mahalanobis,
                                       .p = 2,
                                       .name = "mahalanobis",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "sqrt((x - y)^T VI (x - y)), the Mahalanobis distance",
                                       .params = "an inverse covariance matrix"};
};

}  // namespace kith::core
