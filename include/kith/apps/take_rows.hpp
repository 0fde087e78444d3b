// Some rows of a set of points, copied side by side.
#pragma once

#include <kith/point_set.hpp>

#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

/// The rows of these numbers, in this order; a number may come more than once. Throws OutOfMemory; UsageError if a
/// number is out of range or the points are on a GPU.
KITH_EXPORT PointSet take_rows(PointView points, std::span<const std::uint32_t> rows, int threads = 0);

}  // namespace kith::apps::inline v0
