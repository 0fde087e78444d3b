// See table.hpp.
#include "report/table.hpp"

#include "readable.hpp"
#include "report/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::cli {
namespace {

std::string classes_of(const Cell& cell) {
  std::string classes = cell.is_number ? "number" : "";
  const auto add = [&](std::string_view name) { classes += classes.empty() ? name : fmt::format(" {}", name); };
  if (cell.shade > 0) add(fmt::format("shade-{}", cell.shade));
  if (cell.is_marked) add("marked");
  if (cell.is_muted) add("muted");
  return classes;
}

}  // namespace

Cell cell(std::string_view words) { return {.shown = std::string(words)}; }
Cell count_cell(std::uint64_t count) {
  return {.shown = shown_count(count), .copied = std::to_string(count), .is_number = true};
}
Cell number_cell(double value) { return {.shown = shown(value), .copied = exact_text(value), .is_number = true}; }
Cell share_cell(double share) { return {.shown = shown_share(share), .copied = exact_text(share), .is_number = true}; }
Cell duration_cell(double milliseconds) {
  return {.shown = readable_duration(milliseconds), .copied = exact_text(milliseconds), .is_number = true};
}

Cell no_number() { return {.shown = "–", .is_number = true, .is_muted = true}; }

Table::Table(std::string caption, std::vector<std::string> columns)
    : caption_(std::move(caption)), columns_(std::move(columns)) {}

bool Table::is_number_column(std::size_t column) const {
  return std::ranges::any_of(
      rows_, [&](const std::vector<Cell>& row) { return column < row.size() && row[column].is_number; });
}

Markup Table::markup(std::string_view classes) const {
  Markup body, heading;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    heading += element("th", {{"scope", "col"}, {"class", is_number_column(i) ? "number" : ""}}, columns_[i]);
  }
  for (const std::vector<Cell>& row : rows_) {
    Markup cells;
    for (const Cell& one : row) {
      const bool is_name = cells.empty() && !one.is_number;
      cells +=
          element(is_name ? "th" : "td",
                  {{"scope", is_name ? "row" : ""}, {"class", classes_of(one)}, {"data-value", one.copied}}, one.shown);
    }
    body += element("tr", cells);
  }
  Markup table;
  if (!columns_.empty()) table += element("thead", element("tr", heading));
  table += element("tbody", body);
  return element("figure", {{"class", fmt::format("table {}", classes)}},
                 element("figcaption", caption_) +
                     element("div", {{"class", "scroll"}, {"tabindex", "0"}}, element("table", table)));
}

}  // namespace kith::cli
