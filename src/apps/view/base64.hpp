// Bytes as text of 64 letters, for pages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::apps {

/// Four letters for three bytes; the last four are filled up with "=".
inline std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [bytes](std::size_t i) {
    return i < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) : 0u;
  };
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* to = text.data();
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    *to++ = kLetters[three >> 18];
    *to++ = kLetters[three >> 12 & 63];
    if (i + 1 < bytes.size()) *to = kLetters[three >> 6 & 63];
    ++to;
    if (i + 2 < bytes.size()) *to = kLetters[three & 63];
    ++to;
  }
  return text;
}

}  // namespace kith::apps
