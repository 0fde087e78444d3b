// What all metrics have unless they say otherwise. A metric is a struct in a file of its own, listed in metrics.hpp:
//
//   kInfo                 its names and what can be done with it
//   Reduction             the metric that is searched by: itself, or L2 of rows that are prepared for it
//   kRows                 how rows are prepared; with parameters that are weights, plain rows are scaled
//   kStep, kEnd           the formula of one coordinate, and what becomes of the sum of all
//   kSecondStep           the formula of a second sum, by which the first one is divided; most have none
//   kIsOfDifferences      the step depends on |x - y| alone: axes may wrap, and the least step to an interval is the
//                         step of the gap. Otherwise it is the step to the nearest number of the interval
//   kBoundsNeedSlack      rounding may make that step larger than the one to a number inside, by a few units in the
//                         last place; otherwise steps are monotone as computed
//   kIsCostly             a step takes so many instructions that kernels call it instead of holding it inline
//   exponent              reduced distances grow by this power when reported ones grow
//   reported, bound_of    from reduced distances to what users see, and back for radii
//
// Reduced distances are what searches compare: squares for L2.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"
#include "core/metric/formula.hpp"
#include "core/metric/row_map.hpp"

#include <kith/metric.hpp>

namespace kith::core {

/// For metrics that report what they compare.
struct PlainMetric {
  static constexpr RowForm kRows = RowForm::plain;
  static constexpr bool kIsOfDifferences = true;
  static constexpr bool kBoundsNeedSlack = false;
  static constexpr bool kIsCostly = false;
  static constexpr bool kIsReportedAsIs = true;
  static constexpr bool kIsAngle = false;
  static constexpr auto kEnd = formula::sum;

  PlainMetric() = default;
  KITH_HOST_DEVICE explicit PlainMetric(double) {}

  KITH_HOST_DEVICE double exponent() const { return 1; }
  template <typename T>
  KITH_HOST_DEVICE T reported(T reduced) const {
    return reduced;
  }
  /// The largest reduced distance whose reported one is at most `radius` (>= 0).
  template <typename T>
  KITH_HOST_DEVICE T bound_of(T radius) const {
    return radius;
  }
};

/// The largest value at or near `guess` (>= 0) that `is_within` accepts; `is_within` must be true below some point and
/// false above it, within a few units in the last place of the guess.
template <typename T, typename IsWithin>
KITH_HOST_DEVICE T last_within(T guess, IsWithin&& is_within) {
  while (!is_within(guess)) guess = next_below(guess);
  for (T next = next_above(guess); next != guess && is_within(next); next = next_above(next)) guess = next;
  return guess;
}

}  // namespace kith::core
