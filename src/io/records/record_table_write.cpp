// See record_table_write.hpp.
#include "io/records/record_table_write.hpp"

#include "io/tables/column_visit.hpp"
#include "io/records/record_values.hpp"
#include "io/records/record_write.hpp"
#include "io/text/rows_as_text.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kRecordBlockBytes = std::uint64_t{1} << 22;

NumberType number_type_of(ColumnType type) {
  if (type == ColumnType::f32) return NumberType::f32;
  if (type == ColumnType::f64) return NumberType::f64;
  return static_cast<NumberType>(static_cast<int>(type) + static_cast<int>(NumberType::i8));
}

/// The values of rows [first, first + rows) of one column into their place in the records at `to`.
void put_values(const RecordField& field, const Column& column, std::uint64_t first, std::uint64_t rows,
                std::uint64_t record_bytes, char* to) {
  to += field.offset;
  with_number_type(field.type, [&]<typename S>(S) {
    if constexpr (std::is_arithmetic_v<S>) {
      if constexpr (std::is_integral_v<S>) {
        if (field.scaled) {
          const std::span<const double> values = column.values<double>();
          for (std::uint64_t row = 0; row < rows; ++row, to += record_bytes) {
            const auto value = static_cast<S>(std::nearbyint((values[first + row] - field.origin) / field.scale));
            std::memcpy(to, &value, sizeof(value));
          }
          return;
        }
      }
      const std::span<const S> values = column.values<S>();
      for (std::uint64_t row = 0; row < rows; ++row, to += record_bytes) {
        S value = values[first + row];
        if constexpr (std::is_same_v<S, std::uint8_t>) {
          if (field.mask != 0xff) value = static_cast<S>(static_cast<S>(*to) | ((value & field.mask) << field.shift));
        }
        std::memcpy(to, &value, sizeof(value));
      }
    }
  });
}

bool is_axis(const std::string& name) {
  return name.size() == 1 && std::string_view("xyzXYZ").find(name[0]) != std::string_view::npos;
}

std::string plain_name(const std::string& name, bool rename_axes) {
  std::string plain = name;
  for (char& c : plain) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) c = '_';
  }
  if (rename_axes && is_axis(plain)) plain[0] = static_cast<char>(plain[0] | 0x20);
  return plain;
}

/// 64-bit integers as a type that every format has.
Column narrowed(const Column& column, Format format) {
  for (const ColumnType type : {ColumnType::i32, ColumnType::u32, ColumnType::f64}) {
    if (auto same = converted(column, type)) return std::move(*same);
  }
  throw UsageError(fmt::format(
      "the column \"{}\" holds 64-bit integers that {} has no type for; write .csv, .pcd or .npz, or leave it "
      "out (`drop={}`)",
      column.name(), name_of(format), column.name()));
}

bool is_64_bit_integer(ColumnType type) { return type == ColumnType::i64 || type == ColumnType::u64; }

}  // namespace

RecordField field_of(const Column& column, std::uint64_t offset) {
  RecordField field;
  field.name = column.name();
  field.type = number_type_of(column.type());
  field.offset = offset;
  return field;
}

void write_records(runtime::OutputFile& file, const RecordLayout& layout, std::span<const Column* const> columns,
                   const ProgressCallback& progress) {
  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, layout.record_bytes);
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, kRecordBlockBytes / row_bytes);
  runtime::ProgressMeter meter(&progress, "writing", layout.rows * row_bytes);
  std::vector<char> block;
  for (std::uint64_t row = 0; row < layout.rows; row += block_rows) {
    const std::uint64_t rows = std::min(block_rows, layout.rows - row);
    block.assign(static_cast<std::size_t>(rows * layout.record_bytes), 0);
    for (std::size_t i = 0; i < layout.fields.size(); ++i) {
      if (columns[i] == nullptr) continue;
      put_values(layout.fields[i], *columns[i], row, rows, layout.record_bytes, block.data());
    }
    file.write(block.data(), block.size());
    meter.report((row + rows) * row_bytes);
  }
  meter.finish();
}

void write_record_lines(runtime::OutputFile& file, std::span<const Column* const> columns,
                        const ProgressCallback& progress) {
  const std::uint64_t rows = columns.empty() ? 0 : columns.front()->rows();
  write_rows_as_text(file, rows, columns.size() * 12, progress,
                     [&](std::uint64_t begin, std::uint64_t end, std::string& to) {
                       for (std::uint64_t row = begin; row < end; ++row) {
                         for (std::size_t i = 0; i < columns.size(); ++i) {
                           if (i > 0) to += ' ';
                           columns[i]->print(row, to);
                         }
                         to += '\n';
                       }
                     });
}

NumberColumns number_columns(const Table& table, Format format, bool has_64_bits) {
  NumberColumns result;
  std::vector<std::string> left_out;
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (column.is_text()) {
      left_out.push_back(column.name());
      continue;
    }
    // Coordinates do not become integers because they happen to be whole in a text file.
    const bool is_whole_text = is_axis(column.name()) && !column.texts().empty() && !is_float(column.type());
    Column number = is_whole_text ? rounded(column, ColumnType::f64) : column;
    if (!has_64_bits && is_64_bit_integer(number.type())) number = narrowed(column, format);
    number.set_texts({});
    number.rename(plain_name(column.name(), table.format != format));
    names.push_back(number.name());
    result.columns.push_back(std::move(number));
  }
  if (!left_out.empty()) {
    result.notes.push_back(fmt::format("{} files hold no text, so {} left out: {}; write .csv to keep {}",
                                       name_of(format), left_out.size() == 1 ? "this column is" : "these columns are",
                                       fmt::join(left_out, ", "), left_out.size() == 1 ? "it" : "them"));
  }
  if (result.columns.empty()) {
    throw UsageError(fmt::format("no column of numbers is left to write as {}; write .csv", name_of(format)));
  }
  require_plain_names(names);
  return result;
}

}  // namespace kith::io::inline v0
