// See wrap_points.hpp.
#include <kith/apps/wrap_points.hpp>

#include "core/query_row.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kith::apps::inline v0 {
namespace {

template <typename T>
std::uint64_t wrap(std::span<T> values, std::span<const PeriodicAxis> axes) {
  std::uint64_t outside = 0;
  for (std::size_t row = 0; row < values.size(); row += axes.size()) {
    bool is_outside = false;
    for (std::size_t d = 0; d < axes.size(); ++d) {
      T& x = values[row + d];
      const PeriodicAxis& axis = axes[d];
      if (axis.length() == 0 || !std::isfinite(x)) continue;
      is_outside |= x < axis.lower || x >= axis.upper;
      x = core::wrapped(x, static_cast<T>(axis.length()));
    }
    outside += is_outside ? 1 : 0;
  }
  return outside;
}

}  // namespace

std::uint64_t wrap_points(PointSet& points, std::span<const PeriodicAxis> axes) {
  if (axes.size() != points.dims()) {
    throw UsageError(
        fmt::format("period: {} axes for {} dimensions; give one for each, of length 0 if it does not wrap",
                    axes.size(), points.dims()));
  }
  for (const PeriodicAxis& axis : axes) {
    if (!std::isfinite(axis.length()) || axis.length() < 0) {
      throw UsageError(
          fmt::format("period: {}:{} is not an axis; give finite ends, the lower one first", axis.lower, axis.upper));
    }
  }
  return points.dtype() == DType::f32 ? wrap(points.values<float>(), axes) : wrap(points.values<double>(), axes);
}

}  // namespace kith::apps::inline v0
