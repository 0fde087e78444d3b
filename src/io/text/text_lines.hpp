// Text line by line, with numbers for messages.
#pragma once

#include <cstdint>
#include <string_view>

namespace kith::io::inline v0 {

struct TextLine {
  std::uint64_t number = 0;  ///< from 1 on
  std::string_view text;     ///< without the line end
};

/// Lines end with LF or CR LF; the last one may have no end. Nothing follows the last end.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}

  /// The next line, if there is one.
  bool next(TextLine& line) {
    if (rest_.empty()) return false;
    const std::size_t end = rest_.find('\n');
    line.text = rest_.substr(0, end);
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    line.number = ++number_;
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  std::uint64_t number_ = 0;
};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Without blanks at both ends.
constexpr std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace kith::io::inline v0
