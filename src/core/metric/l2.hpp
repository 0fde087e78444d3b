// L2, the Euclidean distance: searched by its square.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct L2 : PlainMetric {
  using PlainMetric::PlainMetric;
  static constexpr bool kIsReportedAsIs = false;
  using Reduction = L2;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::l2,
                                       .p = 2,
                                       .name = "l2",
                                       .parameter = "",
                                       .aliases = {"euclidean"},
                                       .summary = "sqrt(sum (x - y)^2), the Euclidean distance",
                                       .wraps = true,
                                       .params = "weights"};
  static constexpr auto kStep = fused(formula::x - formula::y, formula::x - formula::y, formula::sum);

  KITH_HOST_DEVICE double exponent() const { return 2; }
  template <typename T>
  KITH_HOST_DEVICE T reported(T reduced) const {
    return square_root(reduced);
  }
  template <typename T>
  KITH_HOST_DEVICE T bound_of(T radius) const {
    return last_within(radius * radius, [radius](T reduced) { return square_root(reduced) <= radius; });
  }
};

}  // namespace kith::core
