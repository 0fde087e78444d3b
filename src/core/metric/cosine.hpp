// Cosine: L2 of normalised rows, reported as half the square, which is 1 - cos(angle).
#pragma once

#include "core/metric/l2.hpp"

namespace kith::core {

struct Cosine : PlainMetric {
  using PlainMetric::PlainMetric;
  static constexpr RowForm kRows = RowForm::direction;
  static constexpr bool kIsReportedAsIs = false;
  using Reduction = L2;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::cosine,
                                       .p = 2,
                                       .name = "cosine",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "1 - cos(angle between x and y)",
                                       .is_true_metric = false};

  template <typename T>
  KITH_HOST_DEVICE T reported(T reduced) const {
    return reduced / T(2);
  }
  template <typename T>
  KITH_HOST_DEVICE T bound_of(T radius) const {
    return last_within(2 * radius, [radius](T reduced) { return reduced / T(2) <= radius; });
  }
};

}  // namespace kith::core
