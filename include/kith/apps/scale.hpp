// Columns brought to a common scale, as the points say that it is fitted on.
#pragma once

#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// `standard`: mean 0 and standard deviation 1. `minmax`: from 0 to 1. A column of one value is only shifted.
enum class Scaling : std::uint8_t { none, standard, minmax };

/// "none", "standard" or "minmax".
KITH_EXPORT std::string_view name_of(Scaling scaling);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT Scaling parse_scaling(std::string_view text);

/// What is subtracted from each column, and what the rest is then divided by. All arithmetic is in f64; the result is
/// rounded to the type of the points once.
struct KITH_EXPORT Scale {
  std::vector<double> shift;
  std::vector<double> divisor;
  /// The scaled points, a copy. `threads` does not change a byte. Throws UsageError on other dims, OutOfMemory.
  PointSet apply(PointView points, int threads = 0) const;
};

/// Fitted on these points, in host memory; the same for every number of threads. Throws BadData on NaN or infinity.
KITH_EXPORT Scale fit_scale(PointView points, Scaling scaling, int threads = 0);

}  // namespace kith::apps::inline v0
