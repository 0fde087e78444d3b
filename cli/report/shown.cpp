// See shown.hpp.
#include "report/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kith::cli {
namespace {

constexpr std::string_view kNarrowSpace = "\u202f";

}  // namespace

std::string grouped(std::string_view digits) {
  const std::size_t start = digits.starts_with('-') ? 1 : 0;
  std::size_t end = digits.find_first_not_of("0123456789", start);
  if (end == std::string_view::npos) end = digits.size();
  std::string text(digits.substr(0, start));
  const bool is_long = end - start > 4;  // four digits are read at a glance
  for (std::size_t i = start; i < end; ++i) {
    if (is_long && i > start && (end - i) % 3 == 0) text += kNarrowSpace;
    text += digits[i];
  }
  return text.append(digits.substr(end));
}

std::string shown_count(std::uint64_t count) { return grouped(std::to_string(count)); }

std::string shown_count(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", shown_count(count), count == 1 ? singular : plural);
}

std::string shown(double value) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (value == 0) return "0";
  const std::string plain = fmt::format("{:.5g}", value);
  const double size = std::abs(value);
  if (size >= 1e5 && size < 1e9) return grouped(fmt::format("{:.0f}", value));
  return grouped(plain);
}

std::string shown_like(double value, double scale) {
  const double size = std::abs(scale);
  if (!std::isfinite(value) || !(size >= 1e-4 && size < 1e9)) return shown(value);
  const int decimals = std::max(0, 4 - static_cast<int>(std::floor(std::log10(size))));
  return grouped(fmt::format("{:.{}f}", value, decimals));
}

std::string shown_share(double share) {
  if (!std::isfinite(share)) return "–";
  const std::string percent = fmt::format("{:.1f}", 100 * share);
  if (percent == "100.0") return share == 1 ? "100 %" : "> 99.9 %";
  if (percent == "0.0") return share == 0 ? "0 %" : "< 0.1 %";
  return percent + " %";
}

std::string ordinal(std::uint64_t number) {
  const bool is_teen = number % 100 / 10 == 1;
  const std::uint64_t last = is_teen ? 0 : number % 10;
  return fmt::format("{}{}", shown_count(number), last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string exact_text(double value) { return fmt::format("{}", value); }

std::string shortened(std::string_view words, std::size_t most) {
  std::size_t characters = 0, end = 0, last = 0;
  for (; end < words.size(); ++end) {
    if ((static_cast<unsigned char>(words[end]) & 0xC0) == 0x80) continue;
    if (characters == most - 1) last = end;
    if (characters++ == most) break;
  }
  return end == words.size() ? std::string(words) : std::string(words.substr(0, last)) + "…";
}

}  // namespace kith::cli
