// Fills a point set in parallel: each row is computed in double and rounded once to the type of the set.
#pragma once

#include "runtime/parallel.hpp"

#include <kith/apps/generate.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

namespace detail {

template <typename T, typename RowFunction>
void fill_rows_as(PointSet& points, const GenerateOptions& options, const RowFunction& row_function) {
  const std::uint64_t dims = points.dims();
  const std::uint64_t block = std::max<std::uint64_t>(1, 65536 / dims);
  const std::uint64_t blocks = (points.rows() + block - 1) / block;
  const std::span<T> values = points.values<T>();
  const runtime::ParallelOptions parallel{options.threads, "generating", &options.progress, block, points.rows()};
  runtime::parallel_for(blocks, parallel, [&](std::uint64_t b) {
    std::vector<double> row(dims);
    const std::uint64_t last = std::min(points.rows(), (b + 1) * block);
    for (std::uint64_t i = b * block; i < last; ++i) {
      row_function(i, std::span<double>(row));
      std::transform(row.begin(), row.end(), values.begin() + static_cast<std::ptrdiff_t>(i * dims),
                     [](double value) { return static_cast<T>(value); });
    }
  });
}

}  // namespace detail

/// `row_function(i, row)` writes the coordinates of point i; it may depend on i alone.
template <typename RowFunction>
void fill_rows(PointSet& points, const GenerateOptions& options, const RowFunction& row_function) {
  if (points.dtype() == DType::f32) {
    detail::fill_rows_as<float>(points, options, row_function);
  } else {
    detail::fill_rows_as<double>(points, options, row_function);
  }
}

}  // namespace kith::apps::inline v0
