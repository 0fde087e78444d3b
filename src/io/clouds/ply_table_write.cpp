// Writes the numbers of a table as the vertices of a PLY file, each property with its own type.
#include "io/records/record_table_write.hpp"
#include "io/tables/table_formats.hpp"

#include <fmt/format.h>

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
  for (const Column& column : numbers.columns) {
    header += fmt::format("property {} {}\n", ply_type(column.type()), column.name());
  }
  file.write(header + "end_header\n");
  write_columns(file, numbers.columns, options);
  return numbers.notes;
}

}  // namespace kith::io::inline v0
