// Whether the first row of a text file names its columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

enum class HeaderRow : std::uint8_t { no, yes, in_doubt };

/// Compares the first row with the columns below it: a header has names where most of the columns hold numbers. One
/// number that is misspelt ("1.2.3", "****", "n.a.") makes no header, and so no row is lost.
HeaderRow find_header_row(std::span<const std::vector<std::string>> rows);

}  // namespace kith::io::inline v0
