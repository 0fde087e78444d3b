// Rows as a metric wants them, straight from its definition, for checking what the engines return. Factors, sines and
// cosines come from the library, where tests check them by themselves.
#pragma once

#include "core/metric/metric_params.hpp"

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

template <typename T>
std::vector<T> plain_row(std::span<const T> row, const core::RowMap& map) {
  if (map.form == core::RowForm::sphere) {
    const core::SineAndCosine north = core::sine_and_cosine(row[0], map.is_degrees);
    const core::SineAndCosine east = core::sine_and_cosine(row[1], map.is_degrees);
    return {static_cast<T>(north.cosine * east.cosine), static_cast<T>(north.cosine * east.sine),
            static_cast<T>(north.sine)};
  }
  std::vector<T> result;
  T length = 0;
  for (const T value : row) length = std::fma(value, value, length);
  for (std::size_t d = 0; d < row.size(); ++d) {
    double sum = 0;
    for (std::size_t e = d; map.form == core::RowForm::linear && e < row.size(); ++e) {
      sum = std::fma(map.values[d * row.size() + e], static_cast<double>(row[e]), sum);
    }
    result.push_back(map.form == core::RowForm::direction ? row[d] / std::sqrt(length)
                     : map.form == core::RowForm::scaled  ? static_cast<T>(row[d] * map.values[d])
                     : map.form == core::RowForm::linear  ? static_cast<T>(sum)
                                                          : row[d]);
  }
  return result;
}

/// Those of the finite rows; others are left as NaN. Throws BadData on a row that has none.
template <typename T>
PointSet plain_rows(PointView rows, const std::vector<bool>& finite, const core::RowMap& map, std::string_view what) {
  const std::uint32_t dims = map.searched_dims();
  PointSet copy(rows.dtype(), rows.rows(), dims);
  const std::span<T> values = copy.values<T>();
  for (std::uint64_t i = 0; i < rows.rows(); ++i) {
    std::vector<T> row(dims, std::numeric_limits<T>::quiet_NaN());
    if (finite[i]) row = plain_row(std::span(rows.row<T>(i), rows.dims()), map);
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (finite[i] && !std::isfinite(row[d])) {
        throw BadData(fmt::format("{}, row {}: has no direction, or overflows under the metric", what, i));
      }
      values[i * dims + d] = row[d];
    }
  }
  return copy;
}

}  // namespace kith::apps::inline v0
