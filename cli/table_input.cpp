// See table_input.hpp.
#include "table_input.hpp"

#include "input_flags.hpp"
#include "readable.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace kith::cli {

io::Table read_table_input(const std::string& path, const io::ReadOptions& options, const OutputFlags& output,
                           const ProgressCallback& progress) {
  if (is_index_file(path)) {
    const io::PointFile file = read_input(path, options, output, progress);
    return io::table_of(file.view(), file.columns);
  }
  io::ReadOptions with_progress = options;
  with_progress.progress = progress;
  io::Table table = io::read_table(path, with_progress);
  for (const std::string& note : table.notes) output.note(fmt::format("{}: {}", path, note));
  std::string columns;
  for (const io::Column& column : table.columns) {
    columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", column.name(), io::name_of(column.type()));
  }
  output.explanation(fmt::format("read {}: {}, {}: {}", path == "-" ? "standard input" : path,
                                 io::name_of(table.format), counted(table.rows(), "row"), columns));
  return table;
}

void write_table_output(const std::string& path, const io::Table& table, const io::WriteOptions& options,
                        const OutputFlags& output) {
  for (const std::string& note : io::write_table(path, table, options)) output.note(note);
}

std::vector<std::string> column_list(const std::string& flag, const std::string& text) {
  std::vector<std::string> names = split(text, ',');
  if (std::ranges::find(names, "") != names.end()) {
    throw UsageError(fmt::format("{}: \"{}\" has an empty name; write a,b,c", flag, text));
  }
  return names;
}

Flag drop_flag(std::vector<std::string>& names, const std::string& text) {
  return {"--drop", "A,B,C", text, [&names](const std::string& value) { names = column_list("--drop", value); }};
}

void drop_columns(io::Table& table, const std::vector<std::string>& names, const std::string& file) {
  std::vector<bool> dropped(table.columns.size(), false);
  for (const std::string& name : names) dropped[table.require(name, file)] = true;
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    if (!dropped[i]) kept.push_back(i);
  }
  if (kept.empty()) throw UsageError(fmt::format("{}: --drop leaves no column", file));
  table.keep(kept);
}

}  // namespace kith::cli
