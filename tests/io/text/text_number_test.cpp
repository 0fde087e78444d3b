// The fast path for plain decimals rounds as the C library does, in both types.
#include "io/text/text_number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace kith::io {
namespace {

void expect_right_or_declined_in(const std::string& text, const std::string& line) {
  const char* const last = line.c_str() + line.size();
  double wide = 0;
  const char* end = parse_plain_decimal(line.c_str(), last, wide);
  if (end != nullptr) {
    const double expected = std::strtod(text.c_str(), nullptr);
    EXPECT_EQ(end, line.c_str() + text.size()) << text;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(wide), std::bit_cast<std::uint64_t>(expected)) << text;
  }
  float narrow = 0;
  end = parse_plain_decimal(line.c_str(), last, narrow);
  if (end != nullptr) {
    const float expected = std::strtof(text.c_str(), nullptr);
    EXPECT_EQ(end, line.c_str() + text.size()) << text;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow), std::bit_cast<std::uint32_t>(expected)) << text;
  }
}

void expect_right_or_declined(const std::string& text) {
  // Digits are taken eight bytes at a time where the line goes on for so long, else one by one.
  expect_right_or_declined_in(text, text + "\n");
  expect_right_or_declined_in(text, text + ",1234567890\n");
}

TEST(TextNumber, RandomPlainDecimals) {
  std::mt19937_64 random(20240611);
  for (int i = 0; i < 200'000; ++i) {
    std::string digits = std::to_string(random() >> (random() % 63));
    digits.insert(random() % (digits.size() + 1), ".");
    if (random() % 3 == 0) digits.insert(0, std::string(random() % 6, '0'));
    if (random() % 2 == 0) digits.insert(0, "-");
    expect_right_or_declined(digits);
  }
}

TEST(TextNumber, HalfwayBetweenTwoFloats) {
  // m + 1/2 of the last place of a float, and one digit to either side.
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const auto low = static_cast<double>((std::uint64_t{1} << 23) + random() % (std::uint64_t{1} << 23));
    const double middle = (low + .5) / static_cast<double>(std::uint64_t{1} << (random() % 24));
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", static_cast<int>(random() % 10), middle);
    expect_right_or_declined(text);
    expect_right_or_declined(std::string(text) + (std::strchr(text, '.') ? "1" : ".1"));
  }
}

TEST(TextNumber, SmallValuesAndZeros) {
  for (const char* text :
       {"0", "-0", "0.0", "-0.000", "0.0000000000000000001", "0.000000000000000000001", "9007199254740992",
        "9007199254740993", "1234567890123456789", "12345678901234567890", ".5", "5.", "-.25"}) {
    expect_right_or_declined(text);
  }
}

TEST(TextNumber, TakesWhatItShouldAndLeavesTheRest) {
  const auto takes = [](const std::string& text) {
    double value = 0;
    return parse_plain_decimal(text.data(), text.data() + text.size(), value) != nullptr;
  };
  for (const char* text : {"1\n", "-12.5,\n", "0.25 \n", "3.\n", "1234567,89012345\n"})
    EXPECT_TRUE(takes(text)) << text;
  for (const char* text : {"\n", "-\n", ".\n", "1e5\n", "1E5\n", "nan\n", "+1\n", "99999999999999999999\n"}) {
    EXPECT_FALSE(takes(text)) << text;
  }
}

TEST(TextNumber, AnyByteEndsTheDigits) {
  for (int byte = 0; byte < 256; ++byte) {
    for (std::size_t at = 0; at < 8; ++at) {
      std::string text = "1234567812345678\n";
      text[at] = static_cast<char>(byte);
      const bool is_digit = byte >= '0' && byte <= '9';
      std::uint64_t digits = 0;
      const char* const end = take_digits(text.data(), text.data() + text.size(), digits);
      ASSERT_EQ(end - text.data(), is_digit ? 16 : static_cast<std::ptrdiff_t>(at)) << byte << " at " << at;
      ASSERT_EQ(digits, std::strtoull(("0" + text.substr(0, is_digit ? 16 : at)).c_str(), nullptr, 10));
    }
  }
}

TEST(TextNumber, EveryOtherNumberGoesToTheFullParser) {
  const auto parsed = [](const std::string& text) {
    double value = -1;
    const char* end = parse_number(text.data(), text.data() + text.size(), value);
    return end == text.data() + text.size() ? value : -77.0;
  };
  EXPECT_EQ(parsed("+1e5"), 1e5);
  EXPECT_EQ(parsed("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed("1e-400"), 0);
  EXPECT_EQ(parsed("-Infinity"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed("1.0D+03"), 1000);
  EXPECT_EQ(parsed("-2.5d-1"), -0.25);
  EXPECT_EQ(parsed("+7D2"), 700);
  EXPECT_EQ(parsed("1D400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsed("\xE2\x88\x92"
                   "3.5"),
            -3.5);
  EXPECT_EQ(parsed("2e\xE2\x88\x92"
                   "3"),
            0.002);
  EXPECT_EQ(parsed("\xE2\x88\x92"
                   "1.5D\xE2\x88\x92"
                   "1"),
            -0.15);
  for (const char* text : {"1D", "D5", "1DD5", "1D5D5", "1D+", "\xE2\x88\x92", "\xE2\x88\x92-1",
                           "+\xE2\x88\x92"
                           "1",
                           "\xE2\x88"}) {
    EXPECT_EQ(parsed(text), -77) << text;
  }
  EXPECT_EQ(parsed("+-1"), -77);
  EXPECT_EQ(parsed(""), -77);
  EXPECT_EQ(parsed("+"), -77);
}

}  // namespace
}  // namespace kith::io
