// Points brought into the box that periodic axes span.
#pragma once

#include <kith/point_set.hpp>

#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

/// One axis of a box, from `lower` to below `upper`. Equal ends: it does not wrap.
struct PeriodicAxis {
  double lower = 0;
  double upper = 0;

  double length() const { return upper - lower; }
};

/// Replaces every coordinate of a periodic axis by the one in [0, length) at the same place, as a search does with its
/// queries, so that BuildOptions::period takes the points; NaN and infinity stay. Returns how many rows had a
/// coordinate outside of [lower, upper). Throws UsageError unless there is an axis for each dimension, with finite ends
/// that are in order.
KITH_EXPORT std::uint64_t wrap_points(PointSet& points, std::span<const PeriodicAxis> axes);

}  // namespace kith::apps::inline v0
