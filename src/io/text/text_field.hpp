// One field of a line of text: where it ends, whether it is a number, missing or text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// The delimiter that stands for any run of blanks and tabs.
inline constexpr char kBlankRun = ' ';

/// Whether `c` may surround a field without being part of it. A tab that separates fields is no blank.
inline bool is_blank(char c, char delimiter) { return c == ' ' || (c == '\t' && delimiter != '\t'); }

/// What a line is, going by how it begins. A marker of comments (#, % or //) with text right behind it is a comment
/// above the rows, but a value among them: "#N/A" must not make a row vanish.
enum class LineKind : std::uint8_t { row, blank, comment, marked };

/// The line at `line` must end with '\n'.
inline LineKind kind_of_line(const char* line) {
  while (*line == ' ' || *line == '\t') ++line;
  switch (*line) {
    case '\n':
      return LineKind::blank;
    case '\r':
      return line[1] == '\n' ? LineKind::blank : LineKind::row;
    case '/':
      if (line[1] != '/') return LineKind::row;
      ++line;
      break;
    case '#':
    case '%':
      break;
    default:
      return LineKind::row;
  }
  const char after = line[1];
  return after == ' ' || after == '\t' || after == '\n' || after == '\r' ? LineKind::comment : LineKind::marked;
}

/// Whether a line below the first row is a row, too. The line must end with '\n'.
inline bool starts_row(const char* line) {
  const LineKind kind = kind_of_line(line);
  return kind == LineKind::row || kind == LineKind::marked;
}

/// Whether a field is what a spreadsheet shows for a value that it cannot compute: "#N/A", "#DIV/0!", "#####".
bool is_spreadsheet_error(std::string_view field);

/// Whether a field is a number with one comma, digits on both sides of it, and no point.
bool has_decimal_comma(std::string_view field);

/// Whether the comma or point of a number may stand between thousands: "1,234".
bool may_be_thousands(std::string_view field);

/// The values that a number with both marks may have, as texts: {"1234.5", "1.2345"} of "1.234,5". Empty if it is none.
std::vector<std::string> readings_of_both_marks(std::string_view field);

/// What a field says about its column. A decimal comma counts as a number here.
enum class FieldKind : std::uint8_t { number, missing, text };

/// `field` without blanks around it.
FieldKind kind_of_field(std::string_view field);

/// What became of a field that should be a number. The error value of a spreadsheet is a missing number.
enum class NumberStatus : std::uint8_t { ok, missing, out_of_range, not_a_number };

/// The value of a field without blanks around it: NaN if it is missing, infinity if it is out of range. `decimal` is
/// '.' or ','; the other of the two is no part of a number.
template <typename T>
NumberStatus number_of_field(std::string_view field, T& value, char decimal = '.');

/// A field cut out of its line.
struct FieldCut {
  std::string_view text;          ///< without blanks around it and without quotes
  const char* next = nullptr;     ///< where the next field starts; meaningless if `last`
  bool last = false;              ///< the line ends here
  const char* problem = nullptr;  ///< what is wrong with the quotes, if anything
};

/// Cuts the field that starts at `first`; the line ends at `line_end`, line break excluded. `unquoted` holds the text
/// of a quoted field that has quotes inside.
FieldCut cut_field(const char* first, const char* line_end, char delimiter, std::string& unquoted);

/// The end of the line at `first`, without '\n' or "\r\n". `last` must follow a '\n'.
const char* end_of_line(const char* first, const char* last);

/// The text of a field as a message shows it: in quotes, cut if long, odd bytes escaped.
std::string shown(std::string_view field);

/// A row cut into its fields. Stops after `limit` fields.
std::vector<std::string> split_row(std::string_view line, char delimiter, std::size_t limit);

/// The number of fields of a row.
std::uint64_t count_fields(const char* first, const char* line_end, char delimiter);

}  // namespace kith::io::inline v0
