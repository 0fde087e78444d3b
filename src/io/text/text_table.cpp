// See text_table.hpp. Threads cut blocks of lines into fields; then each column is looked at as a whole.
#include "io/text/text_table.hpp"

#include "io/records/record_write.hpp"
#include "io/text/text_blocks.hpp"
#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"
#include "io/text/text_sample.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::uint64_t kFieldBlockBytes = std::uint64_t{1} << 20;

/// The fields of one block, column by column.
struct BlockFields {
  std::vector<TextValues> columns;
  std::uint64_t lines = 0;
  std::string error;             // what is wrong with the line `error_line` of this block
  std::uint64_t error_line = 0;  // from 0 on
  bool has_nul = false;
};

/// Cuts the row [row, line_end) into its fields; returns what is wrong with it.
std::string cut_row(const TextLayout& layout, const char* row, const char* line_end, BlockFields& block,
                    std::string& unquoted) {
  const char* next = row;
  for (std::uint32_t field = 0;; ++field) {
    const FieldCut cut = cut_field(next, line_end, layout.delimiter, unquoted);
    if (cut.problem != nullptr) return fmt::format("{}: {}", column_name(layout, field), cut.problem);
    if (field < layout.fields) block.columns[field].push_back(cut.text);
    if (cut.last == (field + 1 == layout.fields) && cut.last) return {};
    if (cut.last || field + 1 >= layout.fields) break;
    next = cut.next;
  }
  const std::uint64_t count = count_fields(row, line_end, layout.delimiter);
  return fmt::format("{} field{}, but {} {} has {}", count, count == 1 ? "" : "s",
                     layout.has_header ? "the header in line" : "line", layout.model_line, layout.fields);
}

BlockFields cut_block(const TextLayout& layout, const BlockLines& lines) {
  BlockFields block;
  block.columns.resize(layout.fields);
  std::string unquoted;
  const auto bytes = static_cast<std::size_t>(lines.end - lines.begin);
  block.has_nul = bytes > 0 && std::memchr(lines.begin, 0, bytes) != nullptr;
  for (const char* next = lines.begin; next < lines.end && block.error.empty(); ++block.lines) {
    const char* const row = next;
    const char* const line_end = end_of_line(row, lines.end);
    next = static_cast<const char*>(std::memchr(row, '\n', static_cast<std::size_t>(lines.end - row))) + 1;
    if (!starts_row(row)) continue;
    block.error = cut_row(layout, row, line_end, block, unquoted);
    block.error_line = block.lines;
  }
  if (block.error.empty() && lines.cut_at_long_line) {
    block.error = fmt::format("longer than {} MiB; is this a text file with line breaks?", kLineLimit >> 20);
    block.error_line = block.lines;
  }
  return block;
}

void require_good_blocks(const runtime::InputFile& file, const TextLayout& layout,
                         const std::vector<BlockFields>& blocks) {
  std::uint64_t line = layout.first_line;
  std::uint64_t rows = 0;
  for (const BlockFields& block : blocks) {
    if (block.has_nul) {
      throw CorruptFile(
          fmt::format("{}: there is a NUL byte from line {} on; is this a binary file?", file.name(), line));
    }
    if (!block.error.empty()) {
      throw BadData(fmt::format("{}: line {}: {}", file.name(), line + block.error_line, block.error));
    }
    line += block.lines;
    rows += block.columns.front().size();
  }
  if (layout.promised_rows && *layout.promised_rows != rows) {
    throw CorruptFile(fmt::format("{}: the first line promises {} rows, but there are {}; the file is cut or damaged",
                                  file.name(), *layout.promised_rows, rows));
  }
}

bool is_color(const std::string& name) {
  constexpr std::array<std::string_view, 4> kColors = {"red", "green", "blue", "alpha"};
  return std::ranges::find(kColors, name) != kColors.end();
}

/// What the fields of a column have in common.
struct FieldSurvey {
  std::uint64_t missing = 0;
  bool all_numbers = true;
  bool all_whole = true;  // digits with a sign at most, within 64 bits
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
};

FieldSurvey survey(const TextValues& fields, char decimal) {
  FieldSurvey result;
  for (std::uint64_t row = 0; row < fields.size() && result.all_numbers; ++row) {
    const std::string_view field = fields[row];
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), whole);
    if (error == std::errc() && end == field.data() + field.size() && field != "-0") {
      result.least = std::min(result.least, whole);
      result.most = std::max(result.most, whole);
      continue;
    }
    double number = 0;
    const NumberStatus status = number_of_field(field, number, decimal);
    result.all_whole = false;
    result.missing += status == NumberStatus::missing ? 1 : 0;
    result.all_numbers = status != NumberStatus::not_a_number;
  }
  if (result.missing == fields.size()) result.all_numbers = fields.empty();
  return result;
}

/// Whole numbers become i32 or i64, colours u8; everything else with digits f64.
ColumnType type_for(const FieldSurvey& found, const std::string& name) {
  if (!found.all_numbers) return ColumnType::text;
  if (!found.all_whole || found.least > found.most) return ColumnType::f64;
  if (is_color(name) && found.least >= 0 && found.most <= 255) return ColumnType::u8;
  const bool fits =
      found.least >= std::numeric_limits<std::int32_t>::min() && found.most <= std::numeric_limits<std::int32_t>::max();
  return fits ? ColumnType::i32 : ColumnType::i64;
}

/// The values of the fields, which stay with the column unless they have decimal commas.
Column column_of_fields(const std::string& name, TextValues fields, char decimal) {
  const ColumnType type = type_for(survey(fields, decimal), name);
  if (type == ColumnType::text) return Column(name, std::move(fields));
  Column column(name, type, fields.size());
  const auto fill = [&]<typename T>(T) {
    const std::span<T> values = column.values<T>();
    for (std::uint64_t row = 0; row < fields.size(); ++row) {
      if constexpr (std::is_integral_v<T>) {
        std::from_chars(fields[row].data(), fields[row].data() + fields[row].size(), values[row]);
      } else {
        number_of_field(fields[row], values[row], decimal);
      }
    }
  };
  switch (type) {
    case ColumnType::u8:
      fill(std::uint8_t{});
      break;
    case ColumnType::i32:
      fill(std::int32_t{});
      break;
    case ColumnType::i64:
      fill(std::int64_t{});
      break;
    default:
      fill(double{});
      break;
  }
  if (decimal == '.' || type != ColumnType::f64) column.set_texts(std::move(fields));
  return column;
}

}  // namespace

void read_text_columns(const runtime::InputFile& file, const ReadOptions& options) {
  Table& table = *options.table;
  const TextLayout layout = find_layout(file, options);
  table.format = Format::text;
  table.named = !layout.names.empty();
  const std::vector<std::string> names =
      table.named ? layout.names : column_names({}, static_cast<std::uint32_t>(layout.fields));

  const TextBlocks lines(file, layout.rows_begin, kFieldBlockBytes);
  std::vector<BlockFields> blocks(static_cast<std::size_t>(lines.count()));
  std::vector<std::vector<char>> buffers(static_cast<std::size_t>(runtime::resolve_threads(options.threads)));
  runtime::parallel_for_workers(blocks.size(),
                                {.threads = options.threads,
                                 .stage = "reading",
                                 .progress = &options.progress,
                                 .units_per_task = kFieldBlockBytes,
                                 .total_units = lines.bytes()},
                                [&](std::uint64_t i, runtime::Worker& worker) {
                                  auto& buffer = buffers[static_cast<std::size_t>(worker.thread())];
                                  blocks[i] = cut_block(layout, lines.load(i, buffer));
                                });
  require_good_blocks(file, layout, blocks);

  table.columns.resize(layout.fields);
  runtime::parallel_for(layout.fields, {.threads = options.threads}, [&](std::uint64_t i) {
    TextValues fields;
    for (BlockFields& block : blocks) {
      fields.append(block.columns[i]);
      block.columns[i] = {};
    }
    table.columns[i] = column_of_fields(names[i], std::move(fields), layout.decimal);
  });
  for (std::uint32_t i = 0; i < layout.fields; ++i) {
    const bool is_coordinate = layout.is_molecule ? i >= 1 && i <= 3 : !table.columns[i].is_text();
    if (is_coordinate) table.coordinates.push_back(i);
  }
}

}  // namespace kith::io::inline v0
