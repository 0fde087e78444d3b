// Angular: L2 of normalised rows, reported as the angle in radians.
#pragma once

#include "core/metric/angle.hpp"
#include "core/metric/l2.hpp"

#include <bit>

namespace kith::core {

struct Angular : PlainMetric {
  static constexpr RowForm kRows = RowForm::direction;
  static constexpr bool kIsReportedAsIs = false;
  static constexpr bool kIsAngle = true;
  using Reduction = L2;
  static constexpr MetricInfo kInfo = {.kind = Metric::Kind::angular,
                                       .p = 2,
                                       .name = "angular",
                                       .parameter = "",
                                       .aliases = {},
                                       .summary = "the angle between x and y in radians, 0 to pi"};

  double unit = 1;  ///< what a radian is reported as

  Angular() = default;
  KITH_HOST_DEVICE explicit Angular(double) {}

  KITH_HOST_DEVICE double exponent() const { return 2; }  ///< for small angles; no square grows by more
  /// Missing neighbours stay at infinity.
  template <typename T>
  KITH_HOST_DEVICE T reported(T reduced) const {
    if (reduced > std::numeric_limits<T>::max()) return reduced;
    return static_cast<T>(unit * angle_of_chord(static_cast<double>(reduced)));
  }
  /// Infinity if all angles are within.
  template <typename T>
  KITH_HOST_DEVICE T bound_of(T radius) const {
    const auto is_within = [this, radius](T reduced) { return reported(reduced) <= radius; };
    T within = 0, beyond = 4;
    if (is_within(beyond)) return std::numeric_limits<T>::infinity();
    using Bits = BitsOf<T>;
    while (std::bit_cast<Bits>(beyond) - std::bit_cast<Bits>(within) > 1) {
      const auto middle = std::bit_cast<T>((std::bit_cast<Bits>(within) + std::bit_cast<Bits>(beyond)) / 2);
      (is_within(middle) ? within : beyond) = middle;
    }
    return within;
  }
};

}  // namespace kith::core
