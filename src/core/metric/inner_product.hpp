// The negative inner product: an order of products, not of distances, so there is no bound of boxes.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct InnerProduct : PlainMetric {
  using PlainMetric::PlainMetric;
  using Reduction = InnerProduct;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::inner_product,
                                       .name = "ip",
                                       .parameter = "",
                                       .aliases = {"inner"},
                                       .summary = "-(sum x y), so that the largest inner product comes first",
                                       .has_distances = false,
                                       .is_true_metric = false,
                                       .has_kd_tree = false,
                                       .has_cover_tree = false};
  static constexpr bool kIsOfDifferences = false;
  static constexpr auto kStep = fused(formula::y, formula::x, formula::sum);

  /// Never -0. Nor is it NaN: the product in a fused multiply-add is never rounded and so never infinite, and a sum
  /// that is infinite stays what it is.
  static constexpr auto kEnd = formula::zero - formula::sum;
};

}  // namespace kith::core
