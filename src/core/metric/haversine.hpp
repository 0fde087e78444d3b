// Haversine: the way over a sphere between two places given by latitude and longitude, found by L2 of unit vectors.
#pragma once

#include "core/metric/angular.hpp"

namespace kith::core {

struct Haversine : Angular {
  static constexpr RowForm kRows = RowForm::sphere;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::haversine,
                                       .name = "haversine",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "the way over a sphere from (latitude, longitude) x to y",
                                       .units = {"radians", "degrees", "metres", "radians-metres"},
                                       .dims = 2};
  /// By the number of the unit: radians, degrees, metres on the Earth (with its mean radius) from degrees and from
  /// radians.
  KITH_HOST_DEVICE explicit Haversine(double index) {
    unit = index == 0 ? 1 : index == 1 ? 0x1.ca5dc1a63c1f8p+5 : 6371008.8;
  }
  KITH_HOST_DEVICE static constexpr bool is_degrees(double index) { return index == 1 || index == 2; }
};

}  // namespace kith::core
