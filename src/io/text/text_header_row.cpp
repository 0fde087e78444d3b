// See text_header_row.hpp.
#include "io/text/text_header_row.hpp"

#include "io/text/text_field.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

/// What a field of the first row may be.
enum class FirstField : std::uint8_t {
  number,
  missing,
  name,
  odd,       ///< begins like a number and goes on like a name: "1st", "5kg"
  misspelt,  ///< a number that somebody or some program got wrong
};

bool has_letter(std::string_view field) {
  return std::ranges::any_of(field, [](unsigned char c) { return std::isalpha(c) != 0 || c >= 0x80; });
}

/// "n.a.", "N.A", "nodata": spellings of a missing value that are not read as one.
bool says_missing(std::string_view field) {
  constexpr std::array<std::string_view, 5> kSpellings = {"na", "nodata", "nil", "missing", "n/a"};
  std::string letters;
  for (const char c : field) {
    if (c != '.' && c != '_' && c != ' ') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return std::ranges::find(kSpellings, letters) != kSpellings.end();
}

/// "O.5", "l,25": letters in place of digits.
bool has_letters_for_digits(std::string_view field) {
  if (field.starts_with('-') || field.starts_with('+')) field.remove_prefix(1);
  return field.find_first_of(".,") != std::string_view::npos &&
         field.find_first_of("0123456789") != std::string_view::npos &&
         field.find_first_not_of("0123456789OolI.,") == std::string_view::npos;
}

FirstField classify(std::string_view field) {
  switch (kind_of_field(field)) {
    case FieldKind::number:
      return FirstField::number;
    case FieldKind::missing:
      return FirstField::missing;
    case FieldKind::text:
      break;
  }
  const bool is_hexadecimal =
      field.size() > 2 && field[0] == '0' && (field[1] | 0x20) == 'x' &&
      std::all_of(field.begin() + 2, field.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!has_letter(field) || is_hexadecimal || says_missing(field) || has_letters_for_digits(field)) {
    return FirstField::misspelt;
  }
  return std::string_view("0123456789+-.<>~").find(field[0]) != std::string_view::npos ? FirstField::odd
                                                                                       : FirstField::name;
}

/// Whether more rows below the first hold a number in this column than hold text.
bool holds_numbers_below(std::span<const std::vector<std::string>> rows, std::size_t field) {
  std::int64_t balance = 0;
  for (const std::vector<std::string>& row : rows.subspan(1)) {
    if (field >= row.size()) continue;
    const FieldKind kind = kind_of_field(row[field]);
    balance += kind == FieldKind::number ? 1 : kind == FieldKind::text ? -1 : 0;
  }
  return balance > 0;
}

}  // namespace

HeaderRow find_header_row(std::span<const std::vector<std::string>> rows) {
  const std::vector<std::string>& first = rows.front();
  std::array<std::size_t, 5> count{};
  for (std::size_t field = 0; field < first.size(); ++field) {
    if (rows.size() == 1 || holds_numbers_below(rows, field)) ++count[static_cast<std::size_t>(classify(first[field]))];
  }
  const auto of = [&](FirstField kind) { return count[static_cast<std::size_t>(kind)]; };
  const std::size_t names = of(FirstField::name) + of(FirstField::odd);
  const std::size_t numbers = of(FirstField::number);
  const std::size_t misspelt = of(FirstField::misspelt);
  if (names == 0 && (misspelt == 0 || numbers > 0)) return HeaderRow::no;
  // Without rows below to compare with, text beside numbers is a label.
  if (rows.size() == 1 && numbers > 0) return HeaderRow::no;
  if (names < numbers + misspelt) return misspelt > numbers ? HeaderRow::in_doubt : HeaderRow::no;
  if (names == numbers + misspelt || (names == 1 && of(FirstField::odd) == 1)) return HeaderRow::in_doubt;
  return HeaderRow::yes;
}

}  // namespace kith::io::inline v0
