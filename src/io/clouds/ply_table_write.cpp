// Writes the numbers of a table as the vertices of a PLY file, each property with its own type.
#include "io/records/record_table_write.hpp"
#include "io/tables/table_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

std::string_view ply_type(ColumnType type) {
  constexpr std::array<std::string_view, 11> kTypes = {"char", "uchar", "short", "ushort", "int", "uint",
                                                       "",     "",      "float", "double", ""};
  return kTypes[static_cast<std::size_t>(type)];
}

}  // namespace

Notes write_ply_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options) {
  const NumberColumns numbers = number_columns(table, Format::ply, false);
  std::string header = fmt::format("ply\nformat {} 1.0\n", options.ascii ? "ascii" : "binary_little_endian");
  for (const std::string& comment : table.comments) header += fmt::format("comment {}\n", comment);
  header += fmt::format("element vertex {}\n", table.rows());
  RecordLayout layout;
  layout.rows = table.rows();
  std::vector<const Column*> columns;
  for (const Column& column : numbers.columns) {
    header += fmt::format("property {} {}\n", ply_type(column.type()), column.name());
    layout.fields.push_back(field_of(column, layout.record_bytes));
    layout.record_bytes += size_of(column.type());
    columns.push_back(&column);
  }
  file.write(header + "end_header\n");
  options.ascii ? write_record_lines(file, columns, options.progress)
                : write_records(file, layout, columns, options.progress);
  return numbers.notes;
}

}  // namespace kith::io::inline v0
