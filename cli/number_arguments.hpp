// Numbers as people type them on a command line.
#pragma once

#include "command.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace kith::cli {

/// A whole number in [low, high]: "1000", "1e6", "2.5e3", "100k", "2M" or "1G". Throws UsageError that begins with the
/// flag.
std::uint64_t parse_whole(const std::string& flag, const std::string& text, std::uint64_t low, std::uint64_t high);

/// A flag that sets `target` to a whole number in [low, high].
template <typename Target>
Flag whole_flag(const std::string& names, const std::string& value, const std::string& text, Target& target,
                std::uint64_t low, std::uint64_t high = std::numeric_limits<std::uint32_t>::max()) {
  return {names, value, text, [=, &target](const std::string& given) {
            target = static_cast<Target>(parse_whole(spoken_name(names), given, low, high));
          }};
}

/// A number of bytes, at least 1: "40GB" or "40 GB" (powers of 1000), "16GiB" (of 1024), also k, M and T, or as
/// parse_whole. Throws UsageError that begins with the flag.
std::uint64_t parse_bytes(const std::string& flag, const std::string& text);

/// A number, also a negative or infinite one. Throws UsageError.
double parse_number(const std::string& flag, const std::string& text);

/// A number of at least 0; infinity is allowed, NaN is not. Throws UsageError that begins with the flag.
double parse_distance(const std::string& flag, const std::string& text);

}  // namespace kith::cli
