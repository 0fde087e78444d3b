// See record_table.hpp. Binary records are read block by block; of lines of text the numbers are read as points are.
#include "io/records/record_table.hpp"

#include "io/tables/column_visit.hpp"
#include "io/records/record_values.hpp"
#include "io/records/record_write.hpp"
#include "runtime/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kTableBlockBytes = std::uint64_t{1} << 22;

ColumnType column_type_of(NumberType type) {
  switch (type) {
    case NumberType::boolean:
      return ColumnType::u8;
    case NumberType::f16:
    case NumberType::f32:
      return ColumnType::f32;
    case NumberType::f64:
      return ColumnType::f64;
    default:
      return static_cast<ColumnType>(static_cast<int>(type) - static_cast<int>(NumberType::i8));
  }
}

/// Values of one field, `stride` bytes apart, into a column.
template <bool kSwap>
void take_values(const RecordField& field, const char* from, std::uint64_t stride, std::uint64_t rows, Column& column,
                 std::uint64_t first_row) {
  with_number_type(field.type, [&]<typename S>(S) {
    const auto fill = [&]<typename D>(D, auto&& value_of) {
      D* const to = column.values<D>().data() + first_row;
      for (std::uint64_t row = 0; row < rows; ++row) to[row] = value_of(load_value<S, kSwap>(from + row * stride));
    };
    if constexpr (std::is_same_v<S, Boolean>) {
      fill(std::uint8_t{}, [](Boolean value) { return static_cast<std::uint8_t>(value.byte != 0); });
    } else if constexpr (std::is_same_v<S, Half>) {
      fill(float{}, [](Half value) { return float_of(value); });
    } else if constexpr (std::is_integral_v<S>) {
      if (field.scaled) {
        fill(double{}, [&](S value) {
          const double scaled = static_cast<double>(value) * field.scale;
          return scaled + field.origin;
        });
      } else if constexpr (std::is_same_v<S, std::uint8_t>) {
        fill(S{}, [&](S value) { return static_cast<S>((value >> field.shift) & field.mask); });
      } else {
        fill(S{}, [](S value) { return value; });
      }
    } else {
      fill(S{}, [](S value) { return value; });
    }
  });
}

void take_block(const runtime::InputFile& file, const RecordLayout& layout, std::uint64_t row, std::uint64_t rows,
                std::vector<char>& scratch, std::vector<Column>& columns) {
  const bool swap = layout.big_endian != (std::endian::native == std::endian::big);
  const auto take = [&](std::size_t i, const char* from, std::uint64_t stride) {
    const RecordField& field = layout.fields[i];
    swap ? take_values<true>(field, from, stride, rows, columns[i], row)
         : take_values<false>(field, from, stride, rows, columns[i], row);
  };
  if (layout.order == RecordOrder::records) {
    scratch.resize(static_cast<std::size_t>(rows * layout.record_bytes));
    file.read_exact(layout.first_byte + row * layout.record_bytes, scratch.data(), scratch.size());
    for (std::size_t i = 0; i < layout.fields.size(); ++i) {
      take(i, scratch.data() + layout.fields[i].offset, layout.record_bytes);
    }
    return;
  }
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const RecordField& field = layout.fields[i];
    const std::uint64_t stride = field.stride != 0 ? field.stride : size_of(field.type);
    scratch.resize(static_cast<std::size_t>((rows - 1) * stride + size_of(field.type)));
    file.read_exact(layout.first_byte + field.offset + row * stride, scratch.data(), scratch.size());
    take(i, scratch.data(), stride);
  }
}

/// The texts that the numbers of a column stand for.
Column spelled_out(const Column& codes, const std::vector<std::string>& texts) {
  TextValues values;
  for (const std::uint32_t code : codes.values<std::uint32_t>()) values.push_back(texts.at(code));
  return Column(codes.name(), std::move(values));
}

void set_coordinates(Table& table, std::span<const std::string> defaults) {
  for (const std::string& name : defaults) {
    if (const auto found = table.find(name)) table.coordinates.push_back(*found);
  }
  for (std::uint32_t i = 0; defaults.empty() && i < table.columns.size(); ++i) {
    if (!table.columns[i].is_text()) table.coordinates.push_back(i);
  }
}

}  // namespace

ColumnType column_type_of(const RecordField& field) {
  return field.scaled ? ColumnType::f64 : column_type_of(field.type);
}

void read_record_columns(const runtime::InputFile& file, const RecordLayout& layout, const ReadOptions& options,
                         Format format, std::span<const std::string> defaults) {
  Table& table = *options.table;
  table.format = format;
  table.named = layout.named;
  const std::vector<std::string> names =
      layout.named ? std::vector<std::string>() : column_names({}, static_cast<std::uint32_t>(layout.fields.size()));
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    const RecordField& field = layout.fields[i];
    table.columns.emplace_back(layout.named ? field.name : names[i], column_type_of(field), layout.rows);
  }

  const std::uint64_t row_bytes = std::max<std::uint64_t>(1, layout.record_bytes);
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, kTableBlockBytes / row_bytes);
  const std::uint64_t blocks = layout.rows / block_rows + (layout.rows % block_rows != 0);
  std::vector<std::vector<char>> scratch(static_cast<std::size_t>(runtime::resolve_threads(options.threads)));
  runtime::parallel_for_workers(blocks,
                                {.threads = options.threads,
                                 .stage = "reading",
                                 .progress = &options.progress,
                                 .units_per_task = block_rows * row_bytes,
                                 .total_units = layout.rows * row_bytes},
                                [&](std::uint64_t block, runtime::Worker& worker) {
                                  const std::uint64_t row = block * block_rows;
                                  take_block(file, layout, row, std::min(block_rows, layout.rows - row),
                                             scratch[static_cast<std::size_t>(worker.thread())], table.columns);
                                });
  for (std::size_t i = 0; i < layout.fields.size(); ++i) {
    if (layout.fields[i].texts) table.columns[i] = spelled_out(table.columns[i], *layout.fields[i].texts);
  }
  set_coordinates(table, defaults);
}

void read_text_record_columns(const runtime::InputFile& file, const TextRecords& records, const ReadOptions& options,
                              Format format, std::span<const std::string> defaults) {
  Table& table = *options.table;
  table.format = format;
  table.named = true;
  // f32 is parsed as such: by way of f64 it would be rounded twice.
  const auto read_as = [&](DType dtype) {
    ReadOptions numbers;
    numbers.threads = options.threads;
    numbers.progress = options.progress;
    numbers.missing_as_nan = options.missing_as_nan;
    numbers.dtype = dtype;
    for (const TextField& field : records.fields) {
      const bool is_f32 = field.type == NumberType::f32;
      if (field.kind == TextField::Kind::number && is_f32 == (dtype == DType::f32)) {
        numbers.columns.push_back(field.name);
      }
    }
    if (numbers.columns.empty()) return Table();
    return table_of(read_text_records(file, records, numbers, format, defaults).view());
  };
  Table narrow = read_as(DType::f32);
  Table wide = read_as(DType::f64);
  std::size_t next_narrow = 0;
  std::size_t next_wide = 0;
  for (const TextField& field : records.fields) {
    if (field.kind != TextField::Kind::number) continue;
    const bool is_f32 = field.type == NumberType::f32;
    Column column = std::move(is_f32 ? narrow.columns[next_narrow++] : wide.columns[next_wide++]);
    if (auto same = converted(column, column_type_of(field.type))) column = std::move(*same);
    column.rename(field.name);
    table.columns.push_back(std::move(column));
  }
  set_coordinates(table, defaults);
}

}  // namespace kith::io::inline v0
