// One field of a line of text: where it ends, whether it is a number, missing or text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io {

/// The delimiter that stands for any run of blanks and tabs.
inline constexpr char kBlankRun = ' ';

/// Whether `c` may surround a field without being part of it. A tab that separates fields is no blank.
inline bool is_blank(char c, char delimiter) { return c == ' ' || (c == '\t' && delimiter != '\t'); }

/// Whether a line that starts at `line` holds a row: it is not blank (tabs or not) and no comment. The line must end
/// with '\n'.
inline bool starts_row(const char* line) {
  while (*line == ' ' || *line == '\t') ++line;
  switch (*line) {
    case '\n':
    case '#':
    case '%':
      return false;
    case '\r':
      return line[1] != '\n';
    case '/':
      return line[1] != '/';
    default:
      return true;
  }
}

/// Whether a field is a number with a decimal comma, which is not read but should be called by its name.
bool has_decimal_comma(std::string_view field);

/// What a field says about its column. A decimal comma counts as a number here.
enum class FieldKind : std::uint8_t { number, missing, text };

/// `field` without blanks around it.
FieldKind kind_of_field(std::string_view field);

/// What became of a field that should be a number.
enum class NumberStatus : std::uint8_t { ok, missing, out_of_range, not_a_number };

/// The value of a field without blanks around it: NaN if it is missing, infinity if it is out of range.
template <typename T>
NumberStatus number_of_field(std::string_view field, T& value);

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

}  // namespace kith::io
