// Numbers as people type them on a command line.
#pragma once

#include <cstdint>
#include <string>

namespace kith::cli {

/// A whole number in [low, high]: "1000", "1e6", "2.5e3", "100k", "2M" or "1G". Throws UsageError that begins with the
/// flag.
std::uint64_t parse_whole(const std::string& flag, const std::string& text, std::uint64_t low, std::uint64_t high);

/// A number of at least 0; infinity is allowed, NaN is not. Throws UsageError that begins with the flag.
/// A number, also a negative or infinite one. Throws UsageError.
double parse_number(const std::string& flag, const std::string& text);

double parse_distance(const std::string& flag, const std::string& text);

}  // namespace kith::cli
