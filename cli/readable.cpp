// See readable.hpp.
#include "readable.hpp"

#include <fmt/format.h>

#include <array>

namespace kith::cli {
namespace {

std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  return value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

/// Divides by 1000 until three digits are left; returns the power.
std::size_t scale_down(double& value, std::size_t most) {
  std::size_t power = 0;
  while (value >= 999.5 && power < most) {
    value /= 1000;
    ++power;
  }
  return power;
}

}  // namespace

std::string readable_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t place = digits.size(); place > 3; place -= 3) digits.insert(place - 3, 1, ' ');
  return digits;
}

std::string counted(std::uint64_t count, std::string_view singular, std::string_view plural) {
  if (count == 1) return fmt::format("1 {}", singular);
  return plural.empty() ? fmt::format("{} {}s", readable_count(count), singular)
                        : fmt::format("{} {}", readable_count(count), plural);
}

std::string readable_bytes(double bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  const std::size_t power = scale_down(bytes, kUnits.size() - 1);
  return power == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", three_digits(bytes), kUnits[power]);
}

std::string readable_duration(double milliseconds) {
  if (milliseconds < 999.5) return three_digits(milliseconds) + " ms";
  const double seconds = milliseconds / 1000;
  if (seconds < 99.95) return three_digits(seconds) + " s";
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

std::string readable_quantity(double value) {
  constexpr std::array kPowers = {"", " k", " M", " G", " T", " P", " E"};
  const std::size_t power = scale_down(value, kPowers.size() - 1);
  return power == 0 && value >= 99.95 ? fmt::format("{:.0f}", value) : three_digits(value) + kPowers[power];
}

}  // namespace kith::cli
