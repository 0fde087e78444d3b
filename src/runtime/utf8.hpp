// UTF-8 to code points and back, as strictly as the Unicode standard wants it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::runtime {

inline constexpr std::uint32_t kLastCodePoint = 0x10FFFF;

/// Not a surrogate, which stands for half of a code point in UTF-16 only, and not above the last.
constexpr bool is_code_point(std::uint32_t value) {
  return value <= kLastCodePoint && (value < 0xD800 || value > 0xDFFF);
}

/// Appends the code points of `text`. Returns the byte where the first bad one begins, or text.size() if all are good:
/// overlong forms, surrogates, what is above the last code point and what is cut short are bad.
std::size_t append_code_points(std::string_view text, std::vector<std::uint32_t>& points);

/// Appends a code point as UTF-8.
void append_utf8(std::uint32_t point, std::string& text);

}  // namespace kith::runtime
