// Farthest point sampling: each new point is the one farthest from all that were taken.
#pragma once

#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

struct FarthestPoints {
  std::vector<std::uint32_t> taken;    ///< places in `rows`, in the order in which they were taken
  std::vector<std::uint32_t> nearest;  ///< per row the number in `taken` of the nearest one, ties to the first
};

/// Of `rows`, ascending and all finite: `count` of them, at most all, `start` (a place in `rows`) first.
FarthestPoints farthest_points(PointView points, std::span<const std::uint32_t> rows, std::uint64_t count,
                               std::uint64_t start, int threads, const ProgressCallback& progress);

}  // namespace kith::apps::inline v0
