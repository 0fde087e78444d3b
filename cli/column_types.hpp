// The flag --dtype of commands that write tables: a type for all floating-point columns, or for one column.
#pragma once

#include "command.hpp"

#include <kith/io/table.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kith::cli {

/// What --dtype asked for; an empty name means all columns of floating-point numbers.
using ColumnTypes = std::vector<std::pair<std::string, io::ColumnType>>;

Flag column_types_flag(ColumnTypes& types);

/// Converts the columns. Floating-point numbers are rounded; throws UsageError if integers would change.
void convert_columns(io::Table& table, const ColumnTypes& types, const std::string& file);

}  // namespace kith::cli
