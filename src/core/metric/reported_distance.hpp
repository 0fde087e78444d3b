// From the number that a search compares to the distance that the user sees, and back for radii.
#pragma once

#include "core/metric/metrics.hpp"

#include <cstdint>

namespace kith::core {

/// The distance that the user sees for a reduced one; `squared` is for L2 only.
template <typename T>
KITH_HOST_DEVICE T reported_distance(Metric metric, bool squared, T reduced) {
  if (squared) return reduced;
  return visit_kind<EveryMetric>(metric.kind(), metric.p(),
                                 [reduced](const auto& each) { return each.reported(reduced); });
}

/// Whether reduced distances are what the user sees.
inline bool is_reported_as_is(Metric metric, bool squared) {
  return squared || visit_metric(metric, [](auto each) { return decltype(each)::kIsReportedAsIs; });
}

/// The largest value of the type that is at most `x` (>= 0).
template <typename T>
KITH_HOST_DEVICE T rounded_down(double x) {
  const T nearest = static_cast<T>(x);
  return static_cast<double>(nearest) > x ? next_below(nearest) : nearest;
}

/// The largest reduced distance whose reported one is at most `radius` (>= 0), so that "within the radius" is decided
/// on what the user sees.
template <typename T>
KITH_HOST_DEVICE T reduced_bound_of_radius(Metric metric, double radius) {
  const T r = rounded_down<T>(radius) + T(0);  // -0 is +0: bounds are compared by their bits, too
  return visit_kind<EveryMetric>(metric.kind(), metric.p(), [r](const auto& each) { return each.bound_of(r); });
}

/// The same for distances that are whole numbers of bits: whole and finite, above all that rows may have.
KITH_HOST_DEVICE inline float whole_bound_of_radius(double radius) {
  constexpr double kAbove = 1 << 21;
  return static_cast<float>(static_cast<std::int32_t>(radius < kAbove ? radius : kAbove));
}

}  // namespace kith::core
