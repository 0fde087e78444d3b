// Which points of a leaf need no powers under Lp: those that cheap sums show to lie beyond a query's limit.
//
// For differences e of d coordinates, as real numbers: sum |e|^p >= max |e|^p, and sum |e|^p >= c (sum e^2)^(p/2) with
// c = 1 for p <= 2 and d^(1 - p/2) above (power means). So a point lies beyond the limit l if max |e| > l^(1/p), or if
// sum e^2 > (l / c)^(2/p). Rounding: each power is off by at most p + 1000 units of the last place
// (core/metric/power.hpp), a sum of d terms by d of them, the root by some hundred where the limit is huge or tiny; the
// slack is more. It is no proof where powers or squares leave the normal range, so limits near its ends filter nothing.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// A point beyond either is beyond the limit; the computed reduced distance would say so, too.
template <typename T>
class LpReach {
 public:
  T largest = std::numeric_limits<T>::infinity();  ///< of |e|
  T squares = std::numeric_limits<T>::infinity();  ///< of the sum of e^2

  LpReach() = default;
  /// Of no limit.
  LpReach(double p, std::uint32_t dims)
      : root_(1 / p),
        slack_(1 + (4.0 * dims + 4096) * static_cast<double>(std::numeric_limits<T>::epsilon())),
        spread_((p > 2 ? std::pow(dims, 1 - 2 / p) : 1.0) * slack_) {}

  void update(T limit) {
    constexpr T kLeast =
        std::numeric_limits<T>::min() / (std::numeric_limits<T>::epsilon() * std::numeric_limits<T>::epsilon());
    largest = squares = std::numeric_limits<T>::infinity();
    if (!(limit >= kLeast && limit < std::numeric_limits<T>::max() / 2)) return;
    const double root = std::pow(static_cast<double>(limit), root_) * slack_;
    largest = usable(root);
    squares = usable(root * root * spread_);
  }

  bool is_beyond(T largest_difference, T sum_of_squares) const {
    return largest_difference > largest || sum_of_squares > squares;
  }

 private:
  /// Computed squares that overflow, or lose what they have below the normal range, must not decide.
  static T usable(double threshold) {
    const bool is_normal = threshold > static_cast<double>(std::numeric_limits<T>::min()) * 0x1p30 &&
                           threshold < static_cast<double>(std::numeric_limits<T>::max()) / 4;
    return is_normal ? static_cast<T>(threshold) : std::numeric_limits<T>::infinity();
  }

  double root_ = 1, slack_ = 1, spread_ = 1;
};

/// Where nothing is as cheap as the reduced distance.
template <typename T>
struct NoReach {
  NoReach(double, std::uint32_t) {}
  void update(T) {}
};

}  // namespace kith::cpu
