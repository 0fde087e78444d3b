// See spread_table.hpp.
#include "report/spread_table.hpp"

#include "report/shown.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith::cli {
namespace {

bool is_whole(const Distribution& values) {
  const auto is_whole_number = [](double value) { return value == std::floor(value); };
  return is_whole_number(values.least) && is_whole_number(values.most) &&
         std::ranges::all_of(values.percentiles, is_whole_number);
}

/// One of the values: decimals as the others of its column have them.
Cell value_cell(double value, const Distribution& values) {
  Cell cell = number_cell(value);
  if (!is_whole(values)) cell.shown = shown_like(value, std::max(std::abs(values.least), std::abs(values.most)));
  return cell;
}

}  // namespace

Markup spread_table(const std::string& caption, std::span<const NamedSpread> spreads) {
  std::vector<std::string> columns = {""};
  for (const NamedSpread& spread : spreads) columns.push_back(spread.name);
  Table table(caption, columns);
  const auto add = [&](const std::string& name, const auto& cell_of) {
    std::vector<Cell> row = {cell(name)};
    for (const NamedSpread& spread : spreads) row.push_back(cell_of(spread.values));
    table.add(std::move(row));
  };
  const auto add_number = [&](const std::string& name, const auto& number_of) {
    add(name, [&](const Distribution& values) { return value_cell(number_of(values), values); });
  };
  add_number("least", [](const Distribution& values) { return values.least; });
  for (std::size_t i = 0; i < kPercents.size(); ++i) {
    const bool is_median = kPercents[i] == 50;
    add_number(is_median ? "50 % (median)" : fmt::format("{} %", kPercents[i]),
               [i](const Distribution& values) { return values.percentiles[i]; });
  }
  add_number("most", [](const Distribution& values) { return values.most; });
  add_number("mean", [](const Distribution& values) { return values.mean; });
  add("values", [](const Distribution& values) { return count_cell(values.finite()); });
  add("missing", [](const Distribution& values) { return count_cell(values.infinite); });
  return table.markup();
}

}  // namespace kith::cli
