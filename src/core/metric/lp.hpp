// Lp, Minkowski's distance with any exponent above 1: searched by its power, the sum of powers.
#pragma once

#include "core/metric/definition.hpp"
#include "core/metric/power.hpp"

namespace kith::core {

struct Lp : PlainMetric {
  static constexpr bool kIsReportedAsIs = false;
  static constexpr bool kIsCostly = true;
  using Reduction = Lp;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::lp,
                                       .name = "lp",
                                       .parameter = "P",
                                       .aliases = {"minkowski"},
                                       .summary = "(sum |x - y|^P)^(1/P), the Minkowski distance with exponent P >= 1",
                                       .wraps = true,
                                       .has_cover_tree = false,
                                       .params = "weights"};
  static constexpr auto kStep = formula::sum + power(absolute(formula::x - formula::y));

  Exponent p;

  Lp() = default;
  KITH_HOST_DEVICE explicit Lp(double exponent_of) : p(exponent_of) {}

  KITH_HOST_DEVICE double exponent() const { return p.value(); }
  template <typename T>
  KITH_HOST_DEVICE T power(T difference) const {
    return p.of(difference);
  }
  template <typename T>
  KITH_HOST_DEVICE T reported(T reduced) const {
    return static_cast<T>(any_power(static_cast<double>(reduced), 1 / p.value()));
  }
  /// The power of the radius, to which sums are compared.
  template <typename T>
  KITH_HOST_DEVICE T bound_of(T radius) const {
    return p.of(radius);
  }
};

}  // namespace kith::core
