// See text_layout.hpp: a look at the first rows decides about delimiter, header and column names.
#include "io/text/text_layout.hpp"

#include "io/text/text_field.hpp"
#include "io/text/text_header_row.hpp"
#include "io/text/text_marks.hpp"
#include "io/text/text_sample.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

using Row = std::vector<std::string>;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

void require_usable_marks(char delimiter, char decimal) {
  if (decimal != 0 && decimal != '.' && decimal != ',') {
    throw UsageError(
        fmt::format("{} cannot separate decimals; use a point or a comma", shown(std::string_view(&decimal, 1))));
  }
  const auto byte = static_cast<unsigned char>(delimiter);
  if (delimiter == 0 || delimiter == '\t') return;
  if (byte < 0x20 || byte >= 0x7f || std::isalnum(byte) ||
      std::string_view(".+-\"#%").find(delimiter) != std::string_view::npos) {
    throw UsageError(fmt::format("{} cannot separate fields; use a comma, semicolon, tab, bar or blank",
                                 shown(std::string_view(&delimiter, 1))));
  }
}

bool is_number(const std::string& field) { return kind_of_field(field) == FieldKind::number; }

std::optional<std::uint64_t> count_alone_on_line(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  const std::size_t last = line.find_last_not_of(" \t");
  line = line.substr(first, last - first + 1);
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  if (error != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return count;
}

/// "O 0.1 0.2 0.3": an element or atom name and its place.
bool is_atom(const Row& row) {
  return row.size() >= 4 && row[0].size() <= 8 && is_letter(row[0][0]) &&
         std::all_of(row.begin() + 1, row.begin() + 4, is_number);
}

/// Files that begin with the number of rows: molecules (count, comment, atoms) and PTS scans (count, points). Takes the
/// lines that are no rows out of the sample.
void take_count_line(std::span<const SampleLine>& rows, TextLayout& layout) {
  if (rows.size() < 2) return;
  const auto count = count_alone_on_line(rows[0].text);
  if (!count) return;
  const auto row_of = [](const SampleLine& line) { return split_row(line.text, kBlankRun, 64); };
  // The comment of a molecule may be blank or begin with '#', so its first atom is the second or third row seen here.
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    if (i < rows.size() && rows[i].number == rows[0].number + 2 && is_atom(row_of(rows[i]))) {
      layout.promised_rows = count;
      layout.is_molecule = true;
      rows = rows.subspan(i);
      return;
    }
  }
  const Row second = row_of(rows[1]);
  if (second.size() >= 2 && std::ranges::all_of(second, is_number)) {
    layout.promised_rows = count;
    rows = rows.subspan(1);
  }
}

bool is_asked_for_by_name(const Row& row, const ReadOptions& options) {
  const auto in_row = [&](const std::string& name) {
    return !name.empty() && kind_of_field(name) == FieldKind::text && std::ranges::find(row, name) != row.end();
  };
  return in_row(options.label) || std::ranges::any_of(options.columns, in_row);
}

/// Whether the first row is a header, where the caller did not say.
bool finds_header(std::span<const Row> rows, const ReadOptions& options, const SampleLine& first,
                  const std::string& file_name) {
  if (is_asked_for_by_name(rows.front(), options)) return true;
  const HeaderRow found = find_header_row(rows);
  if (found == HeaderRow::in_doubt) {
    throw BadData(
        fmt::format("{}: line {} ({}) may name the columns or be a row with values that are not numbers; say "
                    "which: `header=true` or `header=false`",
                    file_name, first.number, shown(first.text)));
  }
  return found == HeaderRow::yes;
}

/// A comment such as "# x y z" names the columns if it has one word for each.
Row names_in_comment(const std::string& comment, const TextLayout& layout) {
  if (comment.empty()) return {};
  Row names = split_row(comment, layout.delimiter, std::size_t{layout.fields} + 1);
  const bool fit = names.size() == layout.fields && std::ranges::all_of(names, [](const std::string& name) {
                     return !name.empty() && name.size() <= 64 && kind_of_field(name) == FieldKind::text;
                   });
  Row sorted = names;
  std::ranges::sort(sorted);
  return fit && std::ranges::adjacent_find(sorted) == sorted.end() ? names : Row();
}

std::vector<std::string> find_text_columns(std::span<const Row> rows, std::size_t fields) {
  std::vector<std::string> examples(fields);
  if (rows.empty()) return examples;
  for (std::size_t field = 0; field < std::min(fields, rows.front().size()); ++field) {
    const bool all_text = std::ranges::all_of(
        rows, [&](const Row& row) { return field >= row.size() || kind_of_field(row[field]) == FieldKind::text; });
    if (all_text) examples[field] = rows.front()[field];
  }
  return examples;
}

void require_whole_lines(const SampleLine& row, const std::string& file_name) {
  if (row.text.find('\r') == std::string::npos) return;
  throw BadData(
      fmt::format("{}: line {} holds carriage returns without line feeds; convert the line ends with: tr '\\r' '\\n'",
                  file_name, row.number));
}

}  // namespace

TextLayout find_layout(const runtime::InputFile& file, const ReadOptions& options) {
  require_usable_marks(options.delimiter, options.decimal);
  const TextSample sample = sample_rows(file);
  if (sample.rows.empty()) {
    throw BadData(fmt::format("{}: holds no points, {}", file.name(),
                              file.size() == 0 ? "the file is empty" : "only blank lines or comments"));
  }
  require_whole_lines(sample.rows.front(), file.name());

  TextLayout layout;
  std::span<const SampleLine> lines = sample.rows;
  const bool blanks_possible = options.delimiter == 0 || options.delimiter == kBlankRun;
  if (blanks_possible && !options.header.value_or(false)) take_count_line(lines, layout);
  const TextMarks marks =
      find_marks(lines, {layout.promised_rows ? kBlankRun : options.delimiter, options.decimal}, file.name());
  layout.delimiter = marks.delimiter;
  layout.decimal = marks.decimal;

  std::vector<Row> rows;
  for (const SampleLine& line : lines) rows.push_back(split_row(line.text, layout.delimiter, kFieldLimit + 1));
  const Row first = rows.front();
  if (first.size() > kFieldLimit) {
    throw BadData(fmt::format("{}: line {} has more than {} fields", file.name(), lines.front().number, kFieldLimit));
  }
  layout.fields = static_cast<std::uint32_t>(first.size());
  layout.model_line = lines.front().number;

  Row comment_names = layout.promised_rows ? Row() : names_in_comment(sample.comment_above, layout);
  const bool numbers_only = std::ranges::all_of(first, is_number);
  if (layout.promised_rows) {
    layout.has_header = false;
  } else if (options.header) {
    layout.has_header = *options.header && !(numbers_only && !comment_names.empty());
  } else {
    layout.has_header = finds_header(rows, options, lines.front(), file.name());
    layout.header_is_guessed = true;
  }

  if (layout.is_molecule) {
    layout.names = {"element", "x", "y", "z"};
  } else if (layout.has_header) {
    layout.names = first;
    layout.names_line = layout.model_line;
    lines = lines.subspan(1);
    rows.erase(rows.begin());
  } else {
    layout.names = std::move(comment_names);
    layout.names_line = layout.names.empty() ? 0 : sample.comment_line;
  }
  for (std::size_t field = 0; field < layout.fields && !layout.names.empty(); ++field) {
    if (field >= layout.names.size()) layout.names.emplace_back();
    if (layout.names[field].empty()) layout.names[field] = fmt::format("{}", field + 1);
  }
  layout.text_examples = find_text_columns(rows, layout.fields);
  for (std::size_t i = 0; i < rows.size() && !layout.ragged; ++i) {
    if (rows[i].size() != layout.fields) layout.ragged = {lines[i].number, rows[i].size()};
  }
  layout.rows_begin = lines.empty() ? file.size() : lines.front().offset;
  layout.first_line = lines.empty() ? layout.model_line + 1 : lines.front().number;
  layout.comments = lines.empty() ? sample.comments : lines.front().comments_above;
  return layout;
}

std::string ragged_message(const TextLayout& layout, std::uint64_t fields) {
  return fmt::format("{} field{}, but {} {} has {}{}", fields, fields == 1 ? "" : "s",
                     layout.has_header ? "the header in line" : "line", layout.model_line, layout.fields,
                     layout.promised_rows ? "; files with several frames or scans are not read" : "");
}

std::string column_name(const TextLayout& layout, std::uint64_t field) {
  if (field >= layout.names.size()) return fmt::format("column {}", field + 1);
  return fmt::format("column {} ({})", field + 1, layout.names[field]);
}

}  // namespace kith::io::inline v0
