// Numbers as reports show them: few digits, groups of three apart, units.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::cli {

/// Digits in groups of three, apart by a narrow space at which no line ends: "1 234 567.25".
std::string grouped(std::string_view digits);
std::string shown_count(std::uint64_t count);
/// "1 query", "1 234 queries".
std::string shown_count(std::uint64_t count, std::string_view singular, std::string_view plural);
/// Five significant digits; "inf" and, for NaN, a dash.
std::string shown(double value);
/// With as many decimals as show five digits of `scale`, so that the numbers of a column stand below each other.
std::string shown_like(double value, double scale);
/// "93.1 %" of a share between 0 and 1; 100 % and 0 % only if it is all or nothing.
std::string shown_share(double share);
/// "1st", "22nd", "13th".
std::string ordinal(std::uint64_t number);
/// All digits, as programs read them.
std::string exact_text(double value);
/// At most so many characters (of UTF-8), the last of which is then "…".
std::string shortened(std::string_view words, std::size_t most);

}  // namespace kith::cli
