// Writes a table as text: values as they stood in a text file, or the shortest that read back.
#include "io/text/rows_as_text.hpp"
#include "io/tables/table_formats.hpp"

#include <string>

namespace kith::io::inline v0 {
namespace {

/// A missing value between two delimiters needs no quotes; alone on its line it would be taken for no row.
void put_field(const std::string& text, char delimiter, bool alone, std::string& to) {
  if (text.empty() && delimiter != ' ' && !alone) return;
  to += as_field(text, delimiter);
}

}  // namespace

Notes write_text_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options, TextStyle style) {
  const char delimiter = style.delimiter;
  if (style.header) {
    std::string header;
    for (const Column& column : table.columns) {
      if (!header.empty()) header += delimiter;
      header += as_field(column.name(), delimiter);
    }
    file.write(header + '\n');
  }
  const bool alone = table.columns.size() == 1;
  write_rows_as_text(file, table.rows(), table.columns.size() * 12, options.progress,
                     [&](std::uint64_t begin, std::uint64_t end, std::string& to) {
                       std::string field;
                       for (std::uint64_t row = begin; row < end; ++row) {
                         for (std::size_t i = 0; i < table.columns.size(); ++i) {
                           const Column& column = table.columns[i];
                           if (i > 0) to += delimiter;
                           if (column.texts().empty()) {
                             column.print(row, to);
                             continue;
                           }
                           field.assign(column.texts()[row]);
                           put_field(field, delimiter, alone, to);
                         }
                         to += '\n';
                       }
                     });
  return {};
}

}  // namespace kith::io::inline v0
