// See utf8.hpp.
#include "runtime/utf8.hpp"

namespace kith::runtime {

std::size_t append_code_points(std::string_view text, std::vector<std::uint32_t>& points) {
  constexpr std::uint32_t kFewest[] = {0, 0, 0x80, 0x800, 0x10000};  // by the number of bytes
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      points.push_back(lead);
      ++i;
      continue;
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC0 || lead >= 0xF8 || length > text.size() - i) return i;
    std::uint32_t point = lead & (0x7Fu >> length);
    for (std::size_t j = 1; j < length; ++j) {
      const auto next = static_cast<unsigned char>(text[i + j]);
      if ((next & 0xC0) != 0x80) return i;
      point = point << 6 | (next & 0x3Fu);
    }
    if (point < kFewest[length] || !is_code_point(point)) return i;
    points.push_back(point);
    i += length;
  }
  return text.size();
}

void append_utf8(std::uint32_t point, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (point >> shift & 0x3F)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0 | point >> 6);
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0 | point >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace kith::runtime
