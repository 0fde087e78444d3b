// See record_columns.hpp.
#include "io/records/record_columns.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace kith::io::inline v0 {
namespace {

bool same_in_any_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::optional<std::uint32_t> find_name(std::span<const std::string> names, std::string_view wanted) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return static_cast<std::uint32_t>(i);
  }
  std::optional<std::uint32_t> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!same_in_any_case(names[i], wanted)) continue;
    if (found) return std::nullopt;  // "x" between "X" and another "X" in a different case means neither
    found = static_cast<std::uint32_t>(i);
  }
  return found;
}

std::optional<std::uint32_t> find_position(std::uint32_t count, std::string_view wanted) {
  std::uint32_t position = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
  if (error != std::errc() || end != wanted.data() + wanted.size() || position == 0 || position > count) {
    return std::nullopt;
  }
  return position - 1;
}

}  // namespace

std::optional<std::uint32_t> find_column(std::span<const std::string> names, std::uint32_t count,
                                         std::string_view wanted) {
  if (const auto by_name = find_name(names, wanted)) return by_name;
  if (const auto by_position = find_position(count, wanted)) return by_position;
  if (wanted == "last" && count > 0) return count - 1;
  return std::nullopt;
}

std::string what_columns_there_are(std::span<const std::string> names, std::uint32_t count) {
  if (names.empty()) return fmt::format("its columns have no names; use positions 1 to {}", count);
  constexpr std::size_t kShown = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    if (!list.empty()) list += ", ";
    list += names[i].substr(0, 40);
  }
  if (names.size() > kShown) list += ", …";
  return fmt::format("it has {}", list);
}

ColumnChoice choose_columns(std::string_view file, std::span<const std::string> names, std::uint32_t count,
                            std::span<const std::string> defaults, const ReadOptions& options) {
  const auto resolve = [&](std::string_view wanted) {
    if (const auto found = find_column(names, count, wanted)) return *found;
    throw UsageError(fmt::format("{}: no column \"{}\"; {}", file, wanted, what_columns_there_are(names, count)));
  };

  ColumnChoice choice;
  if (!options.label.empty()) choice.label = resolve(options.label);
  if (!options.columns.empty()) {
    for (const std::string& wanted : options.columns) choice.coordinates.push_back(resolve(wanted));
  } else if (!defaults.empty()) {
    for (const std::string& wanted : defaults) {
      const auto found = find_name(names, wanted);
      if (!found) {
        throw CorruptFile(fmt::format("{}: has no column \"{}\"; {}; choose columns by name", file, wanted,
                                      what_columns_there_are(names, count)));
      }
      choice.coordinates.push_back(*found);
    }
  } else {
    std::vector<std::uint32_t> extras;
    for (const std::string& wanted : options.extras) extras.push_back(resolve(wanted));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i != choice.label && std::ranges::find(extras, i) == extras.end()) choice.coordinates.push_back(i);
    }
    if (choice.coordinates.empty()) {
      throw UsageError(fmt::format("{}: no coordinates are left besides the label and extra columns", file));
    }
  }
  return choice;
}

}  // namespace kith::io::inline v0
