// Standardised Euclidean distance: L2 of coordinates that are divided by their standard deviations.
#pragma once

#include "core/metric/l2.hpp"

namespace kith::core {

struct StandardizedL2 : L2 {
  using L2::L2;
  static constexpr RowForm kRows = RowForm::scaled;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::seuclidean,
                                       .p = 2,
                                       .name = "seuclidean",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "sqrt(sum (x - y)^2 / V), the standardised Euclidean distance",
                                       .params = "variances"};
};

}  // namespace kith::core
