// See class_file_rows.hpp. The fast path only tells good rows from others; the others are looked at once more.
#include "io/results/class_file_rows.hpp"

#include "io/text/text_field.hpp"
#include "io/text/text_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>
#include <vector>

namespace kith::io::inline v0 {
namespace {

constexpr std::int64_t kFreshLabel = -1;

inline const char* skip_blanks(const char* p) {
  while (*p == ' ' || *p == '\t') ++p;
  return p;
}

inline bool ends_line(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }

/// Kept out of the loop over fields, which then fits into the registers.
template <typename T>
[[gnu::noinline]] const char* parse_finite_number(const char* first, const char* last, T& value) {
  const char* const end = parse_number(first, last, value);
  return end != nullptr && std::abs(value) <= std::numeric_limits<T>::max() ? end : nullptr;
}

/// Reads a whole number; returns where it ends, or null if there is none. One beyond all classes becomes 2^40.
const char* parse_label(const char* p, std::int64_t& label) {
  const bool negative = *p == '-';
  if (negative) ++p;
  const char* const digits = p;
  std::int64_t value = 0;
  for (; *p >= '0' && *p <= '9'; ++p) value = std::min(value * 10 + (*p - '0'), std::int64_t{1} << 40);
  if (p == digits) return nullptr;
  label = negative ? -value : value;
  return p;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    std::string_view field = line.substr(0, comma);
    while (!field.empty() && is_blank(field.front(), ',')) field.remove_prefix(1);
    while (!field.empty() && is_blank(field.back(), ',')) field.remove_suffix(1);
    fields.push_back(field);
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

/// Empty if the field is a finite number.
template <typename T>
std::string explain_coordinate(std::string_view field) {
  T value = 0;
  switch (number_of_field(field, value)) {
    case NumberStatus::missing:
      return "the coordinate is missing";
    case NumberStatus::out_of_range:
      return fmt::format("{} is too large{}", shown(field), sizeof(T) == 4 ? " for f32" : "");
    case NumberStatus::not_a_number:
      return fmt::format("{} is not a number{}", shown(field),
                         field.find('\r') == std::string_view::npos
                             ? ""
                             : "; a carriage return without a line feed is not a line end");
    case NumberStatus::ok:
      break;
  }
  return std::isfinite(value) ? "" : fmt::format("{} is not finite; leave such points out", shown(field));
}

std::string explain_label(std::string_view field, std::uint64_t index, const ClassCounts& counts) {
  const std::uint64_t most = counts.classes - 1;
  const std::string classes = most == 0 ? "the only class is 0" : fmt::format("the classes are 0 to {}", most);
  std::int64_t label = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), label);
  if (error == std::errc::invalid_argument || end != field.data() + field.size()) {
    return field.empty() ? "the class is missing" : fmt::format("class {} is not a whole number", shown(field));
  }
  const bool too_long = error != std::errc();
  if (index < counts.train) {
    if (!too_long && label == kFreshLabel) {
      return fmt::format("class -1 marks a new row, but by line 1 the rows up to line {} have a class",
                         counts.train + 1);
    }
    if (too_long || label < 0 || static_cast<std::uint64_t>(label) > most) {
      return fmt::format("class {}, but by line 1 {}", field, classes);
    }
  } else if (too_long || label != kFreshLabel) {
    return fmt::format("class {}, but by line 1 the rows after line {} are new, with class -1", field,
                       counts.train + 1);
  }
  return "";
}

}  // namespace

template <typename T>
const char* parse_class_row(const char* row, const char* last, std::uint32_t dims, T* values, std::int64_t& label) {
  const char* next = row;
  const char* comma = nullptr;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const char* const first = skip_blanks(next);
    T value;
    const char* end = parse_plain_decimal(first, last, value);
    if (end == nullptr) end = parse_finite_number(first, last, value);
    if (end == nullptr) return nullptr;
    comma = *end == ',' ? end : skip_blanks(end);
    if (*comma != ',') return nullptr;
    values[d] = value;
    next = comma + 1;
  }
  const char* const end = parse_label(skip_blanks(next), label);
  return end != nullptr && ends_line(skip_blanks(end)) ? comma : nullptr;
}
template const char* parse_class_row(const char*, const char*, std::uint32_t, float*, std::int64_t&);
template const char* parse_class_row(const char*, const char*, std::uint32_t, double*, std::int64_t&);

template <typename T>
std::string explain_class_row(const char* row, const char* last, std::uint64_t index, const ClassCounts& counts) {
  const std::uint64_t line = index + 2;
  const std::vector<std::string_view> fields = fields_of({row, end_of_line(row, last)});
  if (fields.size() == 1 && fields[0].empty()) {
    return fmt::format("line {}: blank, but rows follow; remove it", line);
  }
  if (fields.size() != std::size_t{counts.dims} + 1) {
    return fmt::format("line {}: {} field{}, but by line 1 a row is {} coordinate{} and a class", line, fields.size(),
                       fields.size() == 1 ? "" : "s", counts.dims, counts.dims == 1 ? "" : "s");
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string what =
        i < counts.dims ? explain_coordinate<T>(fields[i]) : explain_label(fields[i], index, counts);
    if (!what.empty()) return fmt::format("line {}, column {}: {}", line, i + 1, what);
  }
  return "";
}
template std::string explain_class_row<float>(const char*, const char*, std::uint64_t, const ClassCounts&);
template std::string explain_class_row<double>(const char*, const char*, std::uint64_t, const ClassCounts&);

}  // namespace kith::io::inline v0
