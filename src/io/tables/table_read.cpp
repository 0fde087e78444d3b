// Reads all columns of a file: the readers of the formats fill the table, or the points that they give become one.
#include <kith/io/table.hpp>

#include "io/formats.hpp"
#include "io/tables/table_read.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace kith::io::inline v0 {

void fill_table(const PointFile& file, Table& table) {
  const std::vector<std::string> notes = std::move(table.notes);
  table = table_of(file.view(), file.columns);
  table.format = file.format;
  table.notes = notes;
  if (!file.labels) return;
  TextValues texts;
  for (const std::uint32_t code : file.labels->codes) texts.push_back(file.labels->names[code]);
  table.columns.emplace_back("label", std::move(texts));
}

Table read_table(const std::string& path, const ReadOptions& options) {
  Table table;
  ReadOptions all = options;
  all.table = &table;
  all.want_points = false;
  all.label.clear();
  all.extras.clear();
  all.dtype.reset();
  const runtime::InputFile file(path, options.progress);
  const PointFile read = read_points(file, all);
  table.notes.insert(table.notes.end(), read.notes.begin(), read.notes.end());
  // A format that gives points only has chosen the columns already.
  if (!options.columns.empty() && read.points.dims() == 0) {
    std::vector<std::uint32_t> chosen;
    for (const std::string& name : options.columns) chosen.push_back(table.require(name, file.name()));
    table.keep(chosen);
    table.coordinates.clear();
    for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
      if (!table.columns[i].is_text()) table.coordinates.push_back(i);
    }
  }
  if (options.dtype) {
    const ColumnType type = *options.dtype == DType::f32 ? ColumnType::f32 : ColumnType::f64;
    for (Column& column : table.columns) {
      if (is_float(column.type()) && column.type() != type) column = rounded(column, type);
    }
  }
  return table;
}

}  // namespace kith::io::inline v0
