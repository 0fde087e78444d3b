// See las_scale.hpp.
#include "io/clouds/las_scale.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::io::inline v0 {

LasScale measure_scale(std::span<const double> values, double scale, double offset) {
  LasScale result{scale, offset, 0};
  for (const double value : values) {
    const double whole = std::nearbyint((value - offset) / scale);
    if (!(std::abs(whole) <= std::numeric_limits<std::int32_t>::max())) return {scale, offset, -1};
    const double scaled = whole * scale;
    result.error = std::max(result.error, std::abs(scaled + offset - value));
  }
  return result;
}

LasScale choose_scale(std::span<const double> values) {
  if (values.empty()) return {0.001, 0, 0};
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  LasScale best{0, 0, -1};
  // Without an offset first: decimals such as 0.1 then come back as they were.
  for (const double offset : {0.0, std::floor(*least / 2 + *most / 2)}) {
    for (int digits = 0; digits <= 9; ++digits) {
      const LasScale found = measure_scale(values, 1 / std::pow(10.0, digits), offset);
      if (found.error < 0) break;  // finer ones do not fit either
      if (best.error < 0 || found.error < best.error) best = found;
      if (best.error == 0) return best;
    }
  }
  if (best.error >= 0) return best;
  // Wider than 2^31: coarser than whole numbers.
  const double offset = *least / 2 + *most / 2;
  const double reach = std::max(*most - offset, offset - *least);
  return measure_scale(values, reach / 2147483000.0, offset);
}

}  // namespace kith::io::inline v0
