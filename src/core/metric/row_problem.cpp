// See row_problem.hpp.
#include "core/metric/row_problem.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

namespace kith::core {
namespace {

std::string_view name_of_bad_value(double value) { return std::isnan(value) ? "NaN" : "infinity"; }

/// Why a finite row cannot be searched.
std::string_view why_not_taken(const RowMap& map) {
  if (map.form == RowForm::sphere) {
    return map.is_degrees ? "is no latitude and longitude in degrees: -90 to 90 and -360 to 360"
                          : "is no latitude and longitude in radians: -pi/2 to pi/2 and -2 pi to 2 pi";
  }
  return map.form == RowForm::direction ? "has no direction (its length is zero or overflows), which the metric needs"
                                        : "overflows when it is multiplied by the parameters of the metric";
}

}  // namespace

RowProblem problem_of_row(PointView points, std::uint64_t row, const RowMap& map) {
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    const double value = points.at(row, d);
    if (!std::isfinite(value)) return {d, fmt::format("is {}", name_of_bad_value(value))};
  }
  return {std::nullopt, std::string(why_not_taken(map))};
}

std::string count_of_bad_rows(std::uint64_t count) {
  return count == 1 ? "it is the only bad row" : fmt::format("{} rows are bad in all", count);
}

}  // namespace kith::core
