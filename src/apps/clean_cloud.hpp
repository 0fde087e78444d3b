// The usable rows of a cloud in 2 or 3 dims, side by side, and what their numbers were.
#pragma once

#include "apps/usable_rows.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

struct CleanCloud {
  PointSet points;
  std::vector<std::uint32_t> rows;  ///< the number of each of the points; empty if none was left out
};

/// Throws UsageError unless the points have 2 or 3 dims, BadData on NaN or infinity that are not to be left out;
/// messages call the points `array`.
inline CleanCloud clean_cloud(PointView points, bool skip_nonfinite, int threads, std::string_view purpose,
                              const char* array = "points") {
  require_host_points(points, purpose);
  if (points.dims() != 2 && points.dims() != 3) {
    throw UsageError(fmt::format("{} dims, but 2 or 3 are needed to {}", points.dims(), purpose));
  }
  CleanCloud cloud;
  cloud.rows = usable_rows(points, {.skip = skip_nonfinite, .threads = threads, .array = array});
  cloud.points = take_rows(points, cloud.rows, threads);
  if (cloud.rows.size() == points.rows()) cloud.rows.clear();
  return cloud;
}

}  // namespace kith::apps::inline v0
