// Which rows of a set of points an application can work with: those without NaN and infinity.
#pragma once

#include <kith/point_view.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

inline constexpr std::uint64_t kMostRows = 0xfffffffe;  ///< of an index; 0xffffffff marks "none" in results

/// What makes a row unusable, and what happens then.
struct RowDemands {
  bool needs_direction = false;         ///< cosine: the squared length must be neither 0 nor overflow
  std::span<const double> scores = {};  ///< one per row, none of them NaN; empty: no scores
  bool skip = false;                    ///< leave such rows out instead of throwing
  int threads = 0;
  const char* array = "points";  ///< what messages call them
};

/// Throws UsageError unless the points are in host memory and not more than row numbers can tell apart. `purpose` is
/// what they are for, e.g. "remove duplicates".
void require_host_points(PointView points, std::string_view purpose);

/// The numbers of the usable rows, ascending. Throws BadData that names the first bad row and the count of all, unless
/// they are to be left out.
std::vector<std::uint32_t> usable_rows(PointView points, const RowDemands& demands);

}  // namespace kith::apps::inline v0
