// See text_field.hpp.
#include "io/text/text_field.hpp"

#include "io/text/text_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kShownBytes = 40;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool equal_ignoring_case(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](unsigned char x, char y) { return std::tolower(x) == y; });
}

bool is_missing_marker(std::string_view field) {
  if (!field.empty() && field.front() == '#') return is_spreadsheet_error(field);
  constexpr std::array<std::string_view, 7> kMarkers = {"", "?", "-", "na", "n/a", "null", "none"};
  return std::ranges::any_of(kMarkers, [&](std::string_view marker) { return equal_ignoring_case(field, marker); });
}

/// Whether the text itself says infinity; otherwise an infinite value means that a number was too large.
bool spells_infinity(std::string_view field) {
  if (!field.empty() && (field.front() == '+' || field.front() == '-')) field.remove_prefix(1);
  return !field.empty() && (field.front() == 'i' || field.front() == 'I');
}

/// How many bytes at the start are whole UTF-8 letters.
std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : (lead & 0xF0) == 0xE0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || i + length > text.size()) return i;
    for (std::size_t j = 1; j < length; ++j) {
      if ((static_cast<unsigned char>(text[i + j]) & 0xC0) != 0x80) return i;
    }
    const auto second = length > 1 ? static_cast<unsigned char>(text[i + 1]) : 0;
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool beyond = (lead == 0xED && second > 0x9F) || (lead == 0xF4 && second > 0x8F);
    if (overlong || beyond) return i;
    i += length;
  }
  return i;
}

/// The text between quotes; `first` is after the opening quote. "" stands for one quote.
FieldCut cut_quoted(const char* first, const char* line_end, std::string& unquoted) {
  FieldCut cut;
  const char* const start = first;
  bool copied = false;
  for (;;) {
    const auto* quote = static_cast<const char*>(std::memchr(first, '"', static_cast<std::size_t>(line_end - first)));
    if (quote == nullptr) {
      cut.text = {start, line_end};
      cut.next = line_end;
      cut.last = true;
      cut.problem = "a quoted field does not end on its line; line breaks inside quotes are not read";
      return cut;
    }
    const bool doubled = quote + 1 < line_end && quote[1] == '"';
    if (doubled && !copied) {
      unquoted.assign(start, quote + 1);
      copied = true;
    } else if (copied) {
      unquoted.append(first, doubled ? quote + 1 : quote);
    }
    if (!doubled) {
      cut.text = copied ? std::string_view(unquoted) : std::string_view(start, quote);
      cut.next = quote + 1;
      return cut;
    }
    first = quote + 2;
  }
}

}  // namespace

bool is_spreadsheet_error(std::string_view field) {
  constexpr std::array<std::string_view, 6> kNotAvailable = {"N/A", "NA", "N/D", "NV", "I/T", "GETTING_DATA"};
  if (field.size() < 2 || field.front() != '#') return false;
  if (field.find_first_not_of('#') == std::string_view::npos) return true;  // a column that was too narrow
  field.remove_prefix(1);
  if (std::ranges::find(kNotAvailable, field) != kNotAvailable.end()) return true;
  // In other languages the words differ: #REF!, #BEZUG!, #NOMBRE?
  if (field.size() < 2 || (field.back() != '!' && field.back() != '?')) return false;
  field.remove_suffix(1);
  return std::ranges::all_of(field, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' || byte >= 0x80;
  });
}

bool has_decimal_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  if (comma == std::string_view::npos || comma == 0 || comma + 1 == field.size()) return false;
  if (!is_digit(field[comma - 1]) || !is_digit(field[comma + 1])) return false;
  double value = 0;
  return number_of_field(field, value, ',') != NumberStatus::not_a_number;
}

bool may_be_thousands(std::string_view field) {
  if (!field.empty() && (field.front() == '+' || field.front() == '-')) field.remove_prefix(1);
  const std::size_t mark = field.find_first_of(".,");
  return mark != std::string_view::npos && mark >= 1 && mark <= 3 && field.size() == mark + 4 && field.front() != '0' &&
         std::ranges::count_if(field, is_digit) + 1 == static_cast<std::ptrdiff_t>(field.size());
}

std::vector<std::string> readings_of_both_marks(std::string_view field) {
  if (field.find(',') == std::string_view::npos || field.find('.') == std::string_view::npos) return {};
  std::vector<std::string> readings;
  for (const char decimal : {',', '.'}) {
    std::string plain;
    for (const char c : field) {
      if (c == decimal) plain += '.';
      if (c != ',' && c != '.') plain += c;
    }
    if (kind_of_field(plain) == FieldKind::number) readings.push_back(std::move(plain));
  }
  return readings;
}

FieldKind kind_of_field(std::string_view field) {
  if (is_missing_marker(field)) return FieldKind::missing;
  double value = 0;
  const char* const end = field.data() + field.size();
  const bool is_number = parse_number(field.data(), end, value) == end || has_decimal_comma(field);
  return is_number ? FieldKind::number : FieldKind::text;
}

template <typename T>
NumberStatus number_of_field(std::string_view field, T& value, char decimal) {
  std::string with_point;
  std::string_view digits = field;
  if (decimal == ',') {
    with_point = field;
    // A point becomes what is part of no number.
    for (char& c : with_point) c = c == ',' ? '.' : c == '.' ? ',' : c;
    digits = with_point;
  }
  const char* const end = digits.data() + digits.size();
  if (!digits.empty() && parse_number(digits.data(), end, value) == end) {
    return std::isinf(value) && !spells_infinity(digits) ? NumberStatus::out_of_range : NumberStatus::ok;
  }
  value = std::numeric_limits<T>::quiet_NaN();
  return is_missing_marker(field) ? NumberStatus::missing : NumberStatus::not_a_number;
}
template NumberStatus number_of_field(std::string_view, float&, char);
template NumberStatus number_of_field(std::string_view, double&, char);

FieldCut cut_field(const char* first, const char* line_end, char delimiter, std::string& unquoted) {
  const auto skip_blanks = [&](const char* p) {
    while (p < line_end && is_blank(*p, delimiter)) ++p;
    return p;
  };
  const auto ends_field = [&](char c) { return delimiter == kBlankRun ? is_blank(c, delimiter) : c == delimiter; };

  first = skip_blanks(first);
  FieldCut cut;
  if (first < line_end && *first == '"') {
    cut = cut_quoted(first + 1, line_end, unquoted);
    if (cut.problem != nullptr) return cut;
    const bool followed = cut.next < line_end && !is_blank(*cut.next, delimiter) && !ends_field(*cut.next);
    if (followed) cut.problem = "text follows the closing quote of a field";
    while (followed && cut.next < line_end && !ends_field(*cut.next)) ++cut.next;
  } else {
    const char* end = first;
    while (end < line_end && !ends_field(*end)) ++end;
    cut.next = end;
    while (end > first && is_blank(end[-1], delimiter)) --end;
    cut.text = {first, end};
  }
  cut.next = skip_blanks(cut.next);
  cut.last = cut.next >= line_end;
  if (!cut.last && delimiter != kBlankRun) {
    if (*cut.next != delimiter) {  // blanks and then more text after a closing quote
      cut.problem = "text follows the closing quote of a field";
      while (cut.next < line_end && *cut.next != delimiter) ++cut.next;
      cut.last = cut.next >= line_end;
    }
    if (!cut.last) ++cut.next;
  }
  return cut;
}

const char* end_of_line(const char* first, const char* last) {
  const auto* end = static_cast<const char*>(std::memchr(first, '\n', static_cast<std::size_t>(last - first)));
  if (end == nullptr) end = last;
  return end > first && end[-1] == '\r' ? end - 1 : end;
}

std::string shown(std::string_view field) {
  std::string_view part = field.substr(0, kShownBytes);
  const std::size_t whole = valid_utf8_prefix(part);
  // A letter of up to four bytes may have been cut; anything else that is not UTF-8 is escaped byte by byte.
  const bool is_utf8 = whole == part.size() || (field.size() > kShownBytes && part.size() - whole < 4);
  if (is_utf8) part = part.substr(0, whole);
  std::string text = "\"";
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += fmt::format("\\{}", c);
    } else if (byte < 0x20 || byte == 0x7f || (byte > 0x7f && !is_utf8)) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + (part.size() < field.size() ? "...\"" : "\"");
}

std::vector<std::string> split_row(std::string_view line, char delimiter, std::size_t limit) {
  std::vector<std::string> fields;
  std::string unquoted;
  const char* const end = line.data() + line.size();
  for (const char* next = line.data(); fields.size() < limit;) {
    const FieldCut cut = cut_field(next, end, delimiter, unquoted);
    fields.emplace_back(cut.text);
    if (cut.last) break;
    next = cut.next;
  }
  return fields;
}

std::uint64_t count_fields(const char* first, const char* line_end, char delimiter) {
  std::string unquoted;
  for (std::uint64_t count = 1;; ++count) {
    const FieldCut cut = cut_field(first, line_end, delimiter, unquoted);
    if (cut.last) return count;
    first = cut.next;
  }
}

}  // namespace kith::io::inline v0
