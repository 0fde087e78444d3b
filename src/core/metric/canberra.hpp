// Canberra distance: the sum of relative differences.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct Canberra : PlainMetric {
  using PlainMetric::PlainMetric;
  using Reduction = Canberra;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::canberra,
                                       .name = "canberra",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "sum |x - y| / (|x| + |y|), the Canberra distance"};
  static constexpr auto kStep = formula::sum + relative_difference(formula::x, formula::y);
  /// |x - y| / (|x| + |y|) grows as y moves away from x, and is 1 beyond 0, so the nearest number of an interval has
  /// the least step. As computed it may be off by three roundings.
  static constexpr bool kIsOfDifferences = false;
  static constexpr bool kBoundsNeedSlack = true;
};

}  // namespace kith::core
