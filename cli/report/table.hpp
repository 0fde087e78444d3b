// Tables of a report, which a button copies as tab-separated text.
#pragma once

#include "report/markup.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cli {

/// What stands in a cell, and what is copied: numbers with all their digits.
struct Cell {
  std::string shown;
  std::string copied = {};  ///< empty: what is shown
  bool is_number = false;
  int shade = 0;  ///< 0: none, to 9
  bool is_marked = false;
  bool is_muted = false;
};

Cell cell(std::string_view words);
Cell count_cell(std::uint64_t count);
Cell number_cell(double value);
Cell share_cell(double share);
Cell duration_cell(double milliseconds);
/// Where a number would be.
Cell no_number();

/// Rows below a heading. The first cell of a row names it.
class Table {
 public:
  /// Columns of an empty name are allowed; none at all: the table has no heading.
  Table(std::string caption, std::vector<std::string> columns);
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// `classes` are added to the figure: "matrix" keeps cells close.
  Markup markup(std::string_view classes = {}) const;

 private:
  bool is_number_column(std::size_t column) const;

  std::string caption_;
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace kith::cli
