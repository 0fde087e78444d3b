// See table_input.hpp.
#include "table_input.hpp"

#include "input_flags.hpp"
#include "readable.hpp"

#include <kith/error.hpp>
#include <kith/index_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

Flag drop_flag(std::vector<std::string>& names, const std::string& text) {
  return {"--drop", "A,B,C", text, [&names](const std::string& value) { names = parse_columns("--drop", value); }};
}

FlagGroup table_input_flags(io::ReadOptions& options) {
  FlagGroup group = input_flags(options);
  group.title = "Reading files";
  std::erase_if(group.flags, [](const Flag& flag) { return flag.names == "--label" || flag.names == "--dtype"; });
  return group;
}

std::vector<std::uint32_t> finite_rows(const io::Table& table) {
  std::vector<std::uint32_t> rows;
  for (std::uint64_t row = 0; row < table.rows(); ++row) {
    const bool finite = std::ranges::all_of(table.columns, [row](const io::Column& column) {
      return !io::is_float(column.type()) || std::isfinite(column.number(row));
    });
    if (finite) rows.push_back(static_cast<std::uint32_t>(row));
  }
  return rows;
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
