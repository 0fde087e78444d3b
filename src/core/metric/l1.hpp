// L1, the Manhattan distance.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct L1 : PlainMetric {
  using PlainMetric::PlainMetric;
  using Reduction = L1;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::l1,
                                       .p = 1,
                                       .name = "l1",
                                       .parameter = "",
                                       .aliases = {"manhattan", "cityblock"},
                                       .summary = "sum |x - y|, the Manhattan distance",
                                       .wraps = true,
                                       .params = "weights"};
  static constexpr auto kStep = formula::sum + absolute(formula::x - formula::y);
};

}  // namespace kith::core
