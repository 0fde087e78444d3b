// How values are spread: how many there are, percentiles and a histogram.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kith::cli {

/// The value of a place.
using ValueAt = std::function<double(std::uint64_t)>;

/// The shares of values, in percent, that a report tells percentiles of.
inline constexpr std::array<double, 7> kPercents = {1, 5, 25, 50, 75, 95, 99};

struct Distribution {
  std::uint64_t count = 0;               ///< of all values
  std::uint64_t infinite = 0;            ///< those of missing neighbours, which the rest leaves out
  double least = 0, most = 0, mean = 0;  ///< NaN without finite values
  /// The smallest value that so many percent of the finite ones do not exceed: one of the values.
  std::array<double, kPercents.size()> percentiles = {};
  /// Bins of one width from `first` on. A value on the border of two is in the upper one.
  double first = 0, width = 0;
  std::vector<std::uint64_t> bins;
  std::uint64_t above = 0;  ///< finite values beyond the last bin: few that lie far away

  std::uint64_t finite() const { return count - infinite; }
};

/// Goes through all values some times, without a copy. Whole values get bins of whole widths. NaN must not occur.
/// Throws Interrupted.
Distribution distribution_of(std::uint64_t count, const ValueAt& value, bool is_whole = false);

}  // namespace kith::cli
