// Writes the numbers of a table as an unorganised PCD cloud, version 0.7, each field with its own type.
#include "io/records/record_table_write.hpp"
#include "io/tables/table_formats.hpp"

#include <fmt/format.h>

#include <string>

namespace kith::io::inline v0 {

Notes write_pcd_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options) {
  const NumberColumns numbers = number_columns(table, Format::pcd, true);
  std::string fields = "FIELDS";
  std::string sizes = "SIZE";
  std::string types = "TYPE";
  std::string counts = "COUNT";
  RecordLayout layout;
  layout.rows = table.rows();
  std::vector<const Column*> columns;
  for (const Column& column : numbers.columns) {
    const bool is_signed = static_cast<int>(column.type()) % 2 == 0;
    fields += fmt::format(" {}", column.name());
    sizes += fmt::format(" {}", size_of(column.type()));
    types += is_float(column.type()) ? " F" : is_signed ? " I" : " U";
    counts += " 1";
    layout.fields.push_back(field_of(column, layout.record_bytes));
    layout.record_bytes += size_of(column.type());
    columns.push_back(&column);
  }
  file.write(fmt::format(
      "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n{}\n{}\n{}\n{}\nWIDTH {}\nHEIGHT 1\n"
      "VIEWPOINT {}\nPOINTS {}\nDATA {}\n",
      fields, sizes, types, counts, table.rows(), table.viewpoint.empty() ? "0 0 0 1 0 0 0" : table.viewpoint,
      table.rows(), options.ascii ? "ascii" : "binary"));
  options.ascii ? write_record_lines(file, columns, options.progress)
                : write_records(file, layout, columns, options.progress);
  return numbers.notes;
}

}  // namespace kith::io::inline v0
