// See column_types.hpp.
#include "column_types.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {
namespace {

std::pair<std::string, io::ColumnType> parse_column_and_type(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
  const auto type = io::parse_column_type(equals == std::string::npos ? text : text.substr(equals + 1));
  const bool known = type && *type != io::ColumnType::text;
  if (!known || (name.empty() && !io::is_float(*type))) {
    throw UsageError(
        fmt::format("--dtype: \"{}\" is not a type; give f32 or f64 for all columns of floating-point numbers, or "
                    "COLUMN=TYPE with one of i8, u8, i16, u16, i32, u32, i64, u64, f32, f64",
                    text));
  }
  return {name, *type};
}

io::Column with_type(const io::Column& column, io::ColumnType type, const std::string& file) {
  if (column.is_text()) {
    throw UsageError(fmt::format("--dtype: {}: the column {} holds text, not numbers", file, column.name()));
  }
  if (io::is_float(type)) return io::rounded(column, type);
  if (auto same = io::converted(column, type)) {
    same->set_texts({});  // the type is asked for, so it is no guess from the text
    return std::move(*same);
  }
  throw UsageError(fmt::format("--dtype: {}: {} does not hold every value of the column {}; choose a larger type", file,
                               io::name_of(type), column.name()));
}

}  // namespace

Flag column_types_flag(ColumnTypes& types) {
  return {"--dtype", "f32|f64",
          "convert columns of floating-point numbers, or columns by name: intensity=u16,x=f32; by default all keep "
          "their types",
          [&types](const std::string& value) {
            for (const std::string& one : split(value, ',')) types.push_back(parse_column_and_type(one));
          }};
}

void convert_columns(io::Table& table, const ColumnTypes& types, const std::string& file) {
  for (const auto& [name, type] : types) {
    if (!name.empty()) {
      io::Column& column = table.columns[table.require(name, file)];
      if (column.type() != type) column = with_type(column, type, file);
      continue;
    }
    for (io::Column& column : table.columns) {
      if (io::is_float(column.type()) && column.type() != type) column = io::rounded(column, type);
    }
  }
}

}  // namespace kith::cli
