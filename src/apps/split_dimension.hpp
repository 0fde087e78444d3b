// The dimension that the node of a range splits.
#pragma once

#include "apps/tree_ranges.hpp"

#include <kith/index.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

/// The sides of the tight box of `count` > 0 points, upper - lower in the type of the points; `point(i)` is the i-th.
template <typename T, typename Point>
std::vector<T> box_sides(std::uint64_t count, std::uint32_t dims, const Point& point) {
  std::vector<T> lower(point(0), point(0) + dims);
  std::vector<T> upper = lower;
  for (std::uint64_t i = 1; i < count; ++i) {
    const T* const values = point(i);
    for (std::uint32_t d = 0; d < dims; ++d) {
      lower[d] = std::min(lower[d], values[d]);
      upper[d] = std::max(upper[d], values[d]);
    }
  }
  for (std::uint32_t d = 0; d < dims; ++d) upper[d] -= lower[d];
  return upper;
}

/// The widest side of the box, the lowest dimension among equals; or, by cycle, the level mod dims. `point(i)` is the
/// i-th point of the range.
template <typename T, typename Point>
std::uint32_t split_dimension(SplitRule rule, const TreeRange& range, std::uint32_t dims, const Point& point) {
  if (rule == SplitRule::cycle) return range.level % dims;
  if (range.size() == 1) return 0;  // all sides are 0
  const std::vector<T> sides = box_sides<T>(range.size(), dims, point);
  return static_cast<std::uint32_t>(std::max_element(sides.begin(), sides.end()) - sides.begin());
}

}  // namespace kith::apps::inline v0
