// What is wrong with a row that cannot be searched, in words for people.
#pragma once

#include "core/metric/row_map.hpp"

#include <kith/point_view.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace kith::core {

/// As BadRow takes it: the column is missing where the whole row is the problem.
struct RowProblem {
  std::optional<std::uint32_t> column;
  std::string text;
};

/// Of a row in host memory that `map` does not take.
RowProblem problem_of_row(PointView points, std::uint64_t row, const RowMap& map);

/// "it is the only bad row", or how many there are.
std::string count_of_bad_rows(std::uint64_t count);

}  // namespace kith::core
