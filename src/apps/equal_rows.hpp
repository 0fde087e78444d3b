// Finds, for every row, the first in order of the rows that are equal to it.
#pragma once

#include "apps/row_order.hpp"

#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

struct EqualRowsOptions {
  RowOrder order;
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// Per row of `points` the row that stands for it; only the entries of `rows` (ascending, all finite) mean anything.
/// -0 equals +0.
std::vector<std::uint32_t> first_equal_rows(PointView points, std::span<const std::uint32_t> rows,
                                            const EqualRowsOptions& options);

}  // namespace kith::apps::inline v0
