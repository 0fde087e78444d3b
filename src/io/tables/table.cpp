// Columns and tables in memory: values, names, rows taken and joined. See table.hpp.
#include <kith/io/table.hpp>

#include "io/tables/column_visit.hpp"
#include "io/records/record_columns.hpp"
#include "io/records/record_write.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace kith::io::inline v0 {
namespace {

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name());
  return names;
}

/// The type that holds every value of both, by the rules of the types alone.
ColumnType common_type(ColumnType a, ColumnType b) {
  if (a == b) return a;
  if (a == ColumnType::text || b == ColumnType::text) return ColumnType::text;
  if (is_float(a) || is_float(b)) {
    const auto fits_f32 = [](ColumnType type) { return type == ColumnType::f32 || size_of(type) <= 2; };
    return fits_f32(a) && fits_f32(b) ? ColumnType::f32 : ColumnType::f64;
  }
  const auto is_unsigned = [](ColumnType type) { return static_cast<int>(type) % 2 == 1; };
  const std::size_t bytes = std::max(size_of(a), size_of(b));
  if (is_unsigned(a) == is_unsigned(b)) return size_of(a) == bytes ? a : b;
  const ColumnType other = is_unsigned(a) ? a : b;  // the next larger signed type holds the unsigned one
  const std::size_t needed = std::max(bytes, 2 * size_of(other));
  return needed == 2 ? ColumnType::i16 : needed == 4 ? ColumnType::i32 : ColumnType::i64;
}

Column as_text(const Column& column) {
  TextValues texts;
  std::string field;
  for (std::uint64_t row = 0; row < column.rows(); ++row) {
    field.clear();
    column.print(row, field);
    texts.push_back(field);
  }
  return Column(column.name(), std::move(texts));
}

/// The column with another type that holds all its values.
Column widened(const Column& column, ColumnType type, std::string_view file) {
  if (type == ColumnType::text) return as_text(column);
  if (auto same = converted(column, type)) return std::move(*same);
  throw UsageError(
      fmt::format("{}: the column \"{}\" holds {} that {} does not hold exactly; give one of the files another type "
                  "(`dtype={}=f64`), or leave the column out (`drop={}`)",
                  file, column.name(), name_of(column.type()), name_of(type), column.name(), column.name()));
}

void append_values(Column& to, const Column& more) {
  if (to.is_text()) {
    TextValues texts = to.texts();
    texts.append(more.texts());
    to = Column(to.name(), std::move(texts));
    return;
  }
  Column all(to.name(), to.type(), to.rows() + more.rows());
  const std::size_t bytes = static_cast<std::size_t>(to.rows()) * size_of(to.type());
  if (bytes > 0) std::memcpy(all.data(), to.data(), bytes);
  if (more.rows() > 0) std::memcpy(all.data() + bytes, more.data(), more.rows() * size_of(more.type()));
  const bool kept_texts = (!to.texts().empty() || to.rows() == 0) && (!more.texts().empty() || more.rows() == 0);
  if (kept_texts) {
    TextValues texts = to.texts();
    texts.append(more.texts());
    all.set_texts(std::move(texts));
  }
  to = std::move(all);
}

}  // namespace

std::optional<ColumnType> parse_column_type(std::string_view text) {
  for (int type = 0; type <= static_cast<int>(ColumnType::text); ++type) {
    if (name_of(static_cast<ColumnType>(type)) == text) return static_cast<ColumnType>(type);
  }
  return std::nullopt;
}

void TextValues::append(const TextValues& others) {
  const std::uint64_t before = bytes_.size();
  bytes_ += others.bytes_;
  ends_.reserve(ends_.size() + others.ends_.size());
  for (const std::uint64_t end : others.ends_) ends_.push_back(before + end);
}

void Column::require(ColumnType type) const {
  if (type == type_) return;
  throw UsageError(fmt::format("the column \"{}\" holds {}, not {}", name_, name_of(type_), name_of(type)));
}

double Column::number(std::uint64_t row) const {
  double number = std::numeric_limits<double>::quiet_NaN();
  with_column_type(type_, [&]<typename T>(T) { number = static_cast<double>(values<T>()[row]); });
  return number;
}

void Column::print(std::uint64_t row, std::string& to) const {
  if (!texts_.empty()) {
    to += texts_[row];
    return;
  }
  with_column_type(type_, [&]<typename T>(T) {
    const T value = values<T>()[row];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) {  // "-nan" and payloads mean nothing to readers
        to += "nan";
        return;
      }
    }
    char digits[32];
    to.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
  });
}

std::optional<std::uint32_t> Table::find(std::string_view column) const {
  const std::vector<std::string> names = names_of(*this);
  return find_column(names, static_cast<std::uint32_t>(columns.size()), column);
}

std::uint32_t Table::require(std::string_view column, std::string_view file) const {
  if (const auto found = find(column)) return *found;
  const std::vector<std::string> names = names_of(*this);
  throw UsageError(fmt::format("{}: no column \"{}\"; {}", file, column,
                               what_columns_there_are(names, static_cast<std::uint32_t>(columns.size()))));
}

void Table::keep(std::span<const std::uint32_t> positions) {
  std::vector<std::uint32_t> kept_coordinates;
  std::vector<Column> kept;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (is_coordinate(positions[i])) kept_coordinates.push_back(static_cast<std::uint32_t>(i));
    kept.push_back(columns[positions[i]]);  // a copy: a position may come twice
  }
  columns = std::move(kept);
  coordinates = std::move(kept_coordinates);
}

bool Table::is_coordinate(std::uint32_t column) const {
  return std::ranges::find(coordinates, column) != coordinates.end();
}

Table take_rows(const Table& table, std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    if (row >= table.rows()) throw UsageError(fmt::format("row {} is not among the {} rows", row, table.rows()));
  }
  Table taken;
  taken.coordinates = table.coordinates;
  taken.named = table.named;
  taken.format = table.format;
  taken.viewpoint = table.viewpoint;
  taken.comments = table.comments;
  taken.las = table.las;
  taken.columns.resize(table.columns.size());
  runtime::parallel_for(table.columns.size(), {}, [&](std::uint64_t i) {
    const Column& from = table.columns[i];
    TextValues texts;
    if (!from.texts().empty()) {
      for (const std::uint32_t row : rows) texts.push_back(from.texts()[row]);
    }
    if (from.is_text()) {
      taken.columns[i] = Column(from.name(), std::move(texts));
      return;
    }
    Column to(from.name(), from.type(), rows.size());
    with_column_type(from.type(), [&]<typename T>(T) {
      const std::span<const T> values = from.values<T>();
      const std::span<T> out = to.values<T>();
      for (std::size_t row = 0; row < rows.size(); ++row) out[row] = values[rows[row]];
    });
    to.set_texts(std::move(texts));
    taken.columns[i] = std::move(to);
  });
  return taken;
}

void append_rows(Table& table, const Table& more, std::string_view file) {
  const bool by_name = table.named && more.named;
  if (more.columns.size() != table.columns.size()) {
    throw UsageError(
        fmt::format("{}: has {} columns, the files before it {}; choose the columns that all of them have (`columns=`)",
                    file, more.columns.size(), table.columns.size()));
  }
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    Column& column = table.columns[i];
    const Column& others = more.columns[by_name ? more.require(column.name(), file) : i];
    const ColumnType type = common_type(column.type(), others.type());
    if (column.type() != type) column = widened(column, type, file);
    append_values(column, others.type() == type ? others : widened(others, type, file));
  }
}

Table table_of(PointView points, const std::vector<std::string>& names) {
  Table table;
  table.named = !names.empty();
  const std::vector<std::string> all = column_names(names, points.dims());
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    const auto fill = [&]<typename T>(T) {
      Column column(all[d], column_type_of<T>(), points.rows());
      const std::span<T> values = column.values<T>();
      for (std::uint64_t row = 0; row < points.rows(); ++row) values[row] = points.row<T>(row)[d];
      table.columns.push_back(std::move(column));
    };
    points.dtype() == DType::f32 ? fill(float{}) : fill(double{});
    table.coordinates.push_back(d);
  }
  return table;
}

}  // namespace kith::io::inline v0
