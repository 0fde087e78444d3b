// Bray-Curtis dissimilarity: one sum over another, so there is no bound of boxes.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct BrayCurtis : PlainMetric {
  using PlainMetric::PlainMetric;
  using Reduction = BrayCurtis;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::braycurtis,
                                       .name = "braycurtis",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "(sum |x - y|) / (sum |x + y|), the Bray-Curtis dissimilarity",
                                       .is_true_metric = false,
                                       .has_kd_tree = false,
                                       .has_cover_tree = false};
  static constexpr bool kIsOfDifferences = false;
  static constexpr bool kIsCostly = true;
  static constexpr auto kStep = formula::sum + absolute(formula::x - formula::y);
  static constexpr auto kSecondStep = formula::sum + absolute(formula::x + formula::y);
};

}  // namespace kith::core
