// See kept_columns.hpp.
#include "kept_columns.hpp"

#include "input_flags.hpp"
#include "table_input.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace kith::cli {
namespace {

bool drops_all(const ColumnFlags& flags) { return flags.drop == std::vector<std::string>{"all"}; }

/// Coordinates in the type that --dtype asked for.
void convert_coordinates(io::Table& table, std::optional<DType> dtype) {
  if (!dtype) return;
  const io::ColumnType type = *dtype == DType::f32 ? io::ColumnType::f32 : io::ColumnType::f64;
  for (const std::uint32_t i : table.coordinates) {
    if (table.columns[i].type() != type) table.columns[i] = io::rounded(table.columns[i], type);
  }
}

}  // namespace

KeptColumns::KeptColumns(const std::string& path, const ColumnFlags& flags, const io::ReadOptions& read,
                         const OutputFlags& output, const ProgressCallback& progress) {
  io::ReadOptions options = read;
  if (!flags.by.empty()) options.extras = {flags.by};
  if (!drops_all(flags)) options.table = &table_;
  file_ = read_input(path, options, output, progress);
  for (const std::string& note : table_.notes) output.note(note);
  const bool no_extras = file_.extras.dims() == 0 && file_.points.rows() > 0;
  const std::string asked = !flags.by.empty() && no_extras                   ? flags.by
                            : !flags.carry.empty() && table_.columns.empty() ? flags.carry.front()
                                                                             : "";
  const bool is_coordinate = std::ranges::find(file_.columns, asked) != file_.columns.end();
  if (!asked.empty() && !is_coordinate) {
    throw UsageError(
        fmt::format("{} holds nothing besides its coordinates, so there is no column \"{}\"", path, asked));
  }
  if (!table_.columns.empty()) choose(path, flags, read);
}

void KeptColumns::choose(const std::string& path, const ColumnFlags& flags, const io::ReadOptions& read) {
  std::vector<std::uint32_t> coordinates;
  for (const std::string& name : read.columns) coordinates.push_back(table_.require(name, path));
  if (read.columns.empty()) {
    const auto is_other = [&](std::uint32_t i) {
      return (!read.label.empty() && i == table_.find(read.label)) || (!flags.by.empty() && i == table_.find(flags.by));
    };
    std::ranges::remove_copy_if(table_.coordinates, std::back_inserter(coordinates), is_other);
  }
  table_.coordinates = coordinates;
  for (const std::uint32_t i : coordinates) coordinate_names_.push_back(table_.columns[i].name());
  convert_coordinates(table_, read.dtype);
  if (!flags.carry.empty()) {
    std::vector<std::uint32_t> kept = coordinates;
    const auto add = [&](const std::string& name) {
      const std::uint32_t position = table_.require(name, path);
      if (std::ranges::find(kept, position) == kept.end()) kept.push_back(position);
    };
    if (!flags.by.empty()) add(flags.by);
    if (!read.label.empty()) add(read.label);
    for (const std::string& name : flags.carry) add(name);
    table_.coordinates = kept;  // asked for by name, they are part of a matrix too
    table_.keep(kept);
  }
  for (const std::string& name : flags.drop) {
    if (table_.is_coordinate(table_.require(name, path)) && flags.carry.empty()) {
      throw UsageError(fmt::format("--drop: {} is a coordinate; name other columns, or \"all\"", name));
    }
  }
  if (!flags.drop.empty()) drop_columns(table_, flags.drop, path);
}

std::vector<double> KeptColumns::scores() const {
  std::vector<double> scores;
  if (file_.extras.dims() == 0) return scores;
  scores.reserve(file_.extras.rows());
  for (std::uint64_t row = 0; row < file_.extras.rows(); ++row) scores.push_back(file_.extras.view().at(row, 0));
  return scores;
}

void KeptColumns::write(const std::string& path, std::span<const std::uint32_t> rows, const io::WriteOptions& options,
                        const OutputFlags& output, int threads) const {
  if (!table_.columns.empty()) return write_table_output(path, io::take_rows(table_, rows), options, output);
  io::WriteOptions with_names = options;
  with_names.columns = file_.columns;
  io::write_points(path, apps::take_rows(file_.view(), rows, threads).view(), with_names);
}

void KeptColumns::replace_coordinates(io::Table& table, const PointSet& coordinates) const {
  for (std::uint32_t d = 0; d < coordinates.dims(); ++d) {
    const bool is_there =
        d < table.coordinates.size() &&
        (table_.columns.empty() || table.columns[table.coordinates[d]].name() == coordinate_names_[d]);
    if (!is_there) throw UsageError(fmt::format("--drop: coordinate {} is needed in the result", d + 1));
    const auto fill = [&]<typename T>(T) {
      io::Column& old = table.columns[table.coordinates[d]];
      io::Column column(old.name(), io::column_type_of<T>(), coordinates.rows());
      const std::span<T> values = column.values<T>();
      for (std::uint64_t i = 0; i < coordinates.rows(); ++i) values[i] = coordinates.view().row<T>(i)[d];
      old = std::move(column);
    };
    coordinates.dtype() == DType::f32 ? fill(float{}) : fill(double{});
  }
}

const io::Column* KeptColumns::find_numbers(std::string_view name) const {
  const auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return result;
  };
  for (const io::Column& column : table_.columns) {
    if (column.is_text() || lower(column.name()) != name) continue;
    // By name: columns that --carry names count as part of the matrix, too.
    if (std::ranges::find(coordinate_names_, column.name()) == coordinate_names_.end()) return &column;
  }
  return nullptr;
}

void KeptColumns::write(const std::string& path, std::span<const std::uint32_t> rows, const NewColumns& fresh,
                        const io::WriteOptions& options, const OutputFlags& output, int threads) const {
  if (fresh.columns.empty() && fresh.coordinates == nullptr) return write(path, rows, options, output, threads);
  if (fresh.columns.empty() && table_.columns.empty()) {
    io::WriteOptions with_names = options;
    with_names.columns = file_.columns;
    return io::write_points(path, fresh.coordinates->view(), with_names);
  }
  io::Table table = table_.columns.empty()
                        ? io::table_of(apps::take_rows(file_.view(), rows, threads).view(), file_.columns)
                        : io::take_rows(table_, rows);
  if (fresh.coordinates != nullptr) replace_coordinates(table, *fresh.coordinates);
  const std::vector<std::string>& coordinates = table_.columns.empty() ? file_.columns : coordinate_names_;
  for (const io::Column& column : fresh.columns) {
    const auto same = std::ranges::find(table.columns, column.name(), &io::Column::name);
    if (std::ranges::find(coordinates, column.name()) != coordinates.end()) {
      throw UsageError(
          fmt::format("a new column \"{}\" would take the place of a coordinate; choose another name", column.name()));
    }
    same == table.columns.end() ? table.columns.push_back(column) : static_cast<void>(*same = column);
  }
  write_table_output(path, table, options, output);
}

}  // namespace kith::cli
