// See text_marks.hpp.
#include "io/text/text_marks.hpp"

#include "io/text/text_field.hpp"
#include "io/text/text_layout.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace kith::io::inline v0 {
namespace {

/// The rows of a sample, cut by one delimiter.
struct Trial {
  bool fits = true;  ///< all rows have the same number of fields, and more than one
  std::uint64_t fields = 0;
  std::uint64_t numbers = 0;
  std::uint64_t decimal_commas = 0;

  /// Whether a larger share of the fields are numbers.
  bool is_better_than(const Trial& other) const { return numbers * other.fields > other.numbers * fields; }
};

Trial try_delimiter(std::span<const SampleLine> rows, char delimiter) {
  Trial trial;
  std::size_t fields = 0;
  for (const SampleLine& line : rows) {
    const std::vector<std::string> row = split_row(line.text, delimiter, kFieldLimit + 1);
    if (&line == &rows.front()) fields = row.size();
    trial.fits = trial.fits && row.size() == fields && fields > 1;
    trial.fields += row.size();
    for (const std::string& field : row) {
      trial.numbers += kind_of_field(field) == FieldKind::number ? 1 : 0;
      trial.decimal_commas += has_decimal_comma(field) ? 1 : 0;
    }
  }
  return trial;
}

bool holds(std::span<const SampleLine> rows, char mark) {
  return std::ranges::any_of(rows, [mark](const auto& row) { return row.text.find(mark) != std::string::npos; });
}

/// Tabs or blanks, whichever fits; 0 if neither does.
char find_white_space(std::span<const SampleLine> rows) {
  const Trial tab = try_delimiter(rows, '\t');
  const Trial blanks = try_delimiter(rows, kBlankRun);
  // Columns padded with blanks and tabs may have one tab in each row; then blanks give more numbers.
  if (tab.fits && !(blanks.fits && blanks.numbers > tab.numbers)) return '\t';
  return blanks.fits ? kBlankRun : '\0';
}

/// Commas cut all rows into equally many fields. "35,5<TAB>2,5" is cut so, too, but then the fields make less sense.
char comma_or_other(std::span<const SampleLine> rows, const std::string& file_name) {
  const char other = try_delimiter(rows, '|').fits ? '|' : find_white_space(rows);
  if (other == 0) return ',';
  const Trial commas = try_delimiter(rows, ',');
  const Trial others = try_delimiter(rows, other);
  if (others.decimal_commas == 0 || commas.numbers == commas.fields || commas.is_better_than(others)) return ',';
  if (others.is_better_than(commas) || other != kBlankRun) return other;
  throw BadData(
      fmt::format("{}: line {} ({}) may have a comma between fields or in a number; say which: `delimiter=,` or "
                  "`decimal=,`",
                  file_name, rows.back().number, shown(rows.back().text)));
}

char find_delimiter(std::span<const SampleLine> rows, char decimal, const std::string& file_name) {
  // A decimal comma may stand beside commas that separate only where it is in quotes.
  const bool comma_separates = decimal != ',' || holds(rows, '"');
  for (const char mark : {';', ',', '|'}) {
    if ((mark == ',' && !comma_separates) || !try_delimiter(rows, mark).fits) continue;
    return mark == ',' && decimal == 0 ? comma_or_other(rows, file_name) : mark;
  }
  const char white = find_white_space(rows);
  const Trial by_white = white == 0 ? Trial{} : try_delimiter(rows, white);
  // Rows of different length: what gives the most numbers is meant, so that the message names the odd row.
  for (const char mark : {';', ',', '|', '\t'}) {
    if ((mark == ',' && !comma_separates) || !holds(rows, mark)) continue;
    if (white == 0 || try_delimiter(rows, mark).numbers > by_white.numbers) return mark;
  }
  return white == 0 ? kBlankRun : white;
}

/// Commas in numbers, no points in any, and at least one comma that does not stand before three digits as one between
/// thousands does.
char find_decimal(std::span<const SampleLine> rows, char delimiter) {
  bool comma = false;
  for (const SampleLine& line : rows) {
    for (const std::string& field : split_row(line.text, delimiter, kFieldLimit + 1)) {
      if (has_decimal_comma(field)) {
        comma = comma || !may_be_thousands(field);
      } else if (field.find('.') != std::string::npos && kind_of_field(field) == FieldKind::number) {
        return '.';
      }
    }
  }
  return comma ? ',' : '.';
}

}  // namespace

TextMarks find_marks(std::span<const SampleLine> rows, TextMarks given, const std::string& file_name) {
  if (given.delimiter == 0) given.delimiter = find_delimiter(rows, given.decimal, file_name);
  if (given.decimal == 0) given.decimal = find_decimal(rows, given.delimiter);
  return given;
}

}  // namespace kith::io::inline v0
