// See number_arguments.hpp.
#include "number_arguments.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

namespace kith::cli {
namespace {

constexpr double kLargestExactWhole = 9007199254740992.0;  // 2^53: above it doubles skip whole numbers

enum class Fault { none, no_number, not_whole, too_large };

struct Whole {
  std::uint64_t value = 0;
  Fault fault = Fault::none;
};

std::uint64_t factor_of(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 1000;
    case 'm':
    case 'M':
      return 1000000;
    case 'g':
    case 'G':
      return 1000000000;
    default:
      return 1;
  }
}

Whole whole_of(std::string_view text) {
  const std::uint64_t factor = text.empty() ? 1 : factor_of(text.back());
  if (factor > 1) text.remove_suffix(1);
  if (text.empty()) return {0, Fault::no_number};
  const char* const end = text.data() + text.size();

  if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    std::uint64_t product = 0;
    if (error != std::errc() || stop != end || __builtin_mul_overflow(value, factor, &product)) {
      return {0, Fault::too_large};
    }
    return {product, Fault::none};
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) return {0, Fault::too_large};
  if (error != std::errc() || stop != end || std::isnan(value)) return {0, Fault::no_number};
  value *= static_cast<double>(factor);
  if (value > kLargestExactWhole) return {0, Fault::too_large};
  if (value < 0 || value != std::floor(value)) return {0, Fault::not_whole};
  return {static_cast<std::uint64_t>(value), Fault::none};
}

}  // namespace

std::uint64_t parse_whole(const std::string& flag, const std::string& text, std::uint64_t low, std::uint64_t high) {
  const bool negative = text.size() > 1 && text[0] == '-';
  const Whole magnitude = whole_of(negative ? std::string_view(text).substr(1) : std::string_view(text));
  if (magnitude.fault == Fault::no_number || (!negative && magnitude.fault == Fault::not_whole)) {
    throw UsageError(fmt::format("{}: \"{}\" is not a whole number", flag, text));
  }
  if ((negative && magnitude.value > 0) || (magnitude.fault == Fault::none && magnitude.value < low)) {
    throw UsageError(fmt::format("{}: {} is too small; the least is {}", flag, text, low));
  }
  if (magnitude.fault == Fault::too_large || magnitude.value > high) {
    throw UsageError(fmt::format("{}: {} is too large; the most is {}", flag, text, high));
  }
  return magnitude.value;
}

std::uint64_t parse_bytes(const std::string& flag, const std::string& text) {
  std::string number = text;
  double factor = 1;
  const auto last = [&] {
    return number.empty() ? '\0' : static_cast<char>(std::tolower(static_cast<unsigned char>(number.back())));
  };
  if (last() == 'b') number.pop_back();
  const bool is_binary = last() == 'i';
  if (is_binary) number.pop_back();
  constexpr std::string_view kPrefixes = "kmgt";
  const std::size_t power = kPrefixes.find(last());
  if (power != std::string_view::npos) {
    number.pop_back();
    factor = std::pow(is_binary ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  } else if (is_binary) {
    number += "i";  // no number
  }
  while (last() == ' ') number.pop_back();
  if (factor == 1) return parse_whole(flag, number, 1, static_cast<std::uint64_t>(kLargestExactWhole));
  const double bytes = std::floor(parse_number(flag, number) * factor);
  if (!(bytes >= 1 && bytes <= kLargestExactWhole)) {
    throw UsageError(fmt::format("{}: {} is no size of a memory", flag, text));
  }
  return static_cast<std::uint64_t>(bytes);
}

double parse_number(const std::string& flag, const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || stop != end || (error != std::errc() && error != std::errc::result_out_of_range)) {
    throw UsageError(fmt::format("{}: \"{}\" is not a number", flag, text));
  }
  if (error == std::errc::result_out_of_range) {
    throw UsageError(fmt::format("{}: {} does not fit into a double; write inf for no bound", flag, text));
  }
  return value;
}

double parse_distance(const std::string& flag, const std::string& text) {
  const double value = parse_number(flag, text);
  if (std::isnan(value) || value < 0) {
    throw UsageError(fmt::format("{}: {} is not a distance; give 0 or more", flag, text));
  }
  return value;
}

}  // namespace kith::cli
