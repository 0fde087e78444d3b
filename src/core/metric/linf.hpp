// Linf, Chebyshev's distance: the largest difference of a coordinate.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct Linf : PlainMetric {
  using PlainMetric::PlainMetric;
  using Reduction = Linf;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::linf,
                                       .name = "linf",
                                       .parameter = "",
                                       .aliases = {"chebyshev", "infinity"},
                                       .summary = "max |x - y|, the Chebyshev distance",
                                       .wraps = true,
                                       .params = "weights"};
  static constexpr auto kStep = larger(formula::sum, absolute(formula::x - formula::y));
};

}  // namespace kith::core
