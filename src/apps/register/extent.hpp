// What a cloud is like as a whole: where its middle is, and how far it spreads.
#pragma once

#include "apps/ordered_total.hpp"
#include "apps/register/stage.hpp"
#include "core/cloud/registration_plan.hpp"

#include <kith/point_set.hpp>

#include <algorithm>
#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

/// Sums in a fixed order.
template <typename T>
core::CloudExtent extent_of(const PointSet& points, int threads) {
  if (points.rows() == 0) return {};
  const std::span<const T> rows = points.values<T>();
  const std::uint32_t dims = points.dims();
  double lower[3], upper[3];
  for (std::uint32_t d = 0; d < dims; ++d) {
    T least = rows[d], most = rows[d];
    for (std::uint64_t i = 0; i < points.rows(); ++i) {
      least = std::min(least, rows[i * dims + d]);
      most = std::max(most, rows[i * dims + d]);
    }
    lower[d] = static_cast<double>(least);
    upper[d] = static_cast<double>(most);
  }
  core::CloudExtent extent = core::extent_of_box(lower, upper, dims);
  const auto sums = ordered_total<4>(points.rows(), {.threads = threads}, [&](std::uint64_t i, core::Terms<4>& terms) {
    double x[3];
    load_row(rows, dims, i, extent.centre, x);
    terms = {x[0], x[1], x[2], x[0] * x[0] + x[1] * x[1] + x[2] * x[2]};
  });
  core::add_sums(extent, sums.data(), points.rows());
  return extent;
}

}  // namespace kith::apps::inline v0
