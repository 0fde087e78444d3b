// Lp, Minkowski's distance with any exponent above 1: searched by its power, the sum of powers.
#pragma once

#include "core/metric/definition.hpp"

namespace kith::core {

struct Lp : PlainMetric {
  static constexpr bool kIsReportedAsIs = false;
  using Reduction = Lp;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::lp,
                                       .name = "lp",
                                       .parameter = "P",
                                       .aliases = {"minkowski"},
                                       .summary = "(sum |x - y|^P)^(1/P), the Minkowski distance with exponent P >= 1",
                                       .has_cover_tree = false};
  static constexpr auto kStep = formula::sum + power(absolute(formula::x - formula::y));
  static constexpr int kBoundUnits = 64;

  double p = 2;

  Lp() = default;
  KITH_HOST_DEVICE explicit Lp(double exponent) : p(exponent) {}

  KITH_HOST_DEVICE double exponent() const { return p; }
  template <typename T>
  KITH_HOST_DEVICE T power(T difference) const {
    using std::pow;
    return difference == T(0) ? T(0) : pow(difference, static_cast<T>(p));  // as in most dimensions of most boxes
  }
  template <typename T>
  KITH_HOST_DEVICE T reported(T reduced) const {
    using std::pow;
    return pow(reduced, static_cast<T>(1 / p));
  }
  /// The power of the radius, to which sums are compared.
  template <typename T>
  T bound_of(T radius) const {
    return std::pow(radius, static_cast<T>(p));
  }
};

}  // namespace kith::core
