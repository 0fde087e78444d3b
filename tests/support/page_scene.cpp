// See page_scene.hpp.
#include "support/page_scene.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace kith::test {
namespace {

constexpr std::string_view kBlock = "<script type=\"application/octet-stream\" class=\"block\">";

std::string from_base64(std::string_view text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t digit = letters.find(c);
    EXPECT_NE(digit, std::string::npos);
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 255);
    }
  }
  return bytes;
}

std::string inflated(const std::string& bytes, std::size_t expected) {
  std::string text(expected + 1, '\0');
  uLongf size = static_cast<uLongf>(text.size());
  const int status = uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()));
  EXPECT_EQ(status, Z_OK);
  EXPECT_EQ(size, expected);
  text.resize(expected);
  return text;
}

}  // namespace

PageScene::PageScene(std::string page) : page_(std::move(page)) {
  json_ =
      nlohmann::json::parse(between("<script type=\"application/json\" id=\"scene\">", "</script>"), nullptr, false);
  EXPECT_FALSE(json_.is_discarded());
  for (std::size_t place = page_.find(kBlock); place != std::string::npos; place = page_.find(kBlock, place)) {
    place += kBlock.size();
    const std::size_t end = page_.find("</script>", place);
    blocks_.push_back(from_base64(std::string_view(page_).substr(place, end - place)));
  }
}

std::string PageScene::between(std::string_view open, std::string_view close) const {
  const std::size_t begin = page_.find(open);
  if (begin == std::string::npos) return {};
  const std::size_t end = page_.find(close, begin + open.size());
  return page_.substr(begin + open.size(), end - begin - open.size());
}

const nlohmann::json& PageScene::column(std::size_t cloud, const std::string& name) const {
  static const nlohmann::json kNone;
  for (const nlohmann::json& column : json_.at("clouds").at(cloud).at("columns")) {
    if (column.at("name") == name) return column;
  }
  ADD_FAILURE() << "no column " << name;
  return kNone;
}

std::vector<double> PageScene::values(const nlohmann::json& array) const {
  const std::string type = array.at("type");
  const std::size_t count = array.at("count");
  const std::size_t bytes = type == "u8" ? 1 : type == "u16" ? 2 : type == "u32" || type == "f32" ? 4 : 8;
  const std::string planes = inflated(blocks_.at(array.at("block")), count * bytes);
  std::vector<double> values(count);
  std::uint64_t last = 0;
  const std::uint64_t mask = bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * bytes) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < bytes; ++b) {
      bits |= static_cast<std::uint64_t>(static_cast<unsigned char>(planes[b * count + i])) << 8 * b;
    }
    if (array.value("delta", false)) bits = last = (last + bits) & mask;
    if (type == "f32") {
      const auto half = static_cast<std::uint32_t>(bits);
      float value;
      std::memcpy(&value, &half, sizeof value);
      values[i] = static_cast<double>(value);
    } else if (type == "f64") {
      std::memcpy(&values[i], &bits, sizeof values[i]);
    } else if (array.contains("missing") && bits == array.at("missing").get<std::uint64_t>()) {
      values[i] = std::numeric_limits<double>::quiet_NaN();
    } else {
      values[i] = array.value("low", 0.0) + array.value("step", 1.0) * static_cast<double>(bits);
    }
  }
  return values;
}

}  // namespace kith::test
