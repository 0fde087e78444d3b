// Turns digits into the nearest float or double: short plain decimals at once, everything else through fast_float.
#pragma once

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace kith::io::inline v0 {

/// 10^0 to 10^22: the powers of ten that a double holds exactly.
inline constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

inline constexpr std::uint64_t kPowersOfTen[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

/// The number that eight digits spell; each byte holds one digit as 0 to 9, the first digit in the lowest byte.
/// Adjacent digits are joined into pairs, pairs into fours, fours into the whole.
inline std::uint64_t join_eight_digits(std::uint64_t digits) {
  digits = (digits & 0x0F0F0F0F0F0F0F0F) * (10 * (1u << 8) + 1) >> 8;
  digits = (digits & 0x00FF00FF00FF00FF) * (100 * (1u << 16) + 1) >> 16;
  return (digits & 0x0000FFFF0000FFFF) * (10000 * (std::uint64_t{1} << 32) + 1) >> 32;
}

/// Appends the digits at `p` to `digits`; returns where they end. A character that is no digit must follow them. One by
/// one is best for few digits: the processor guesses how many there will be and does not wait for the answer.
inline const char* take_few_digits(const char* p, std::uint64_t& digits) {
  for (; *p >= '0' && *p <= '9'; ++p) digits = digits * 10 + static_cast<unsigned>(*p - '0');
  return p;
}

/// The same, up to eight at a time while there are so many bytes before `last`, whether digits or not. No branch
/// depends on how many digits there are below eight.
[[gnu::always_inline]] inline const char* take_digits(const char* p, const char* last, std::uint64_t& digits) {
  while (std::endian::native == std::endian::little && last - p >= 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    bytes ^= 0x3030303030303030;  // a digit becomes 0 to 9, anything else more
    // Bit 7 of a byte is set where it is above 9. A carry can only disturb bytes above the first such one.
    const std::uint64_t others = ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
    if (others != 0) {
      const int count = std::countr_zero(others) / 8;
      digits =
          digits * kPowersOfTen[count] + join_eight_digits(bytes << (56 - 8 * count) << 8);  // in two steps for count 0
      return p + count;
    }
    digits = digits * 100000000 + join_eight_digits(bytes);
    p += 8;
  }
  return take_few_digits(p, digits);
}

/// Reads digits with at most one point among them and no exponent, such as -12.345678. Both the digits, as an integer
/// up to 2^53, and the power of ten are exact as doubles, so one division rounds correctly. Returns where the number
/// ends, or null if it is longer, has an exponent or is none; that says nothing about it yet. [first, last) must not be
/// empty and end with a line feed.
template <typename T>
[[gnu::always_inline]] inline const char* parse_plain_decimal(const char* first, const char* last, T& value) {
  const bool negative = *first == '-';
  std::uint64_t digits = 0;
  const char* const integer = first + (negative ? 1 : 0);
  const char* p = take_few_digits(integer, digits);
  std::ptrdiff_t count = p - integer;
  std::ptrdiff_t decimals = 0;
  if (*p == '.') {
    const char* const fraction = p + 1;
    p = take_digits(fraction, last, digits);
    decimals = p - fraction;
    count += decimals;
  }
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  // Up to 19 digits do not overflow; 2^53 has 16. E, e, D and d may begin an
  // exponent: they are the letters that this mask makes an 'e'.
  if (count == 0 || count > 19 || digits > kExact || (*p | 0x21) == 'e') return nullptr;
  const double quotient = static_cast<double>(digits) / kExactPowersOfTen[decimals];
  if constexpr (std::is_same_v<T, float>) {
    // Rounding a second time is harmless unless the double lies just halfway between two floats (the true value may lie
    // on either side of it), or the float is subnormal, where the halves lie elsewhere.
    constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
    const bool halfway = (std::bit_cast<std::uint64_t>(quotient) & kDropped) == (kDropped + 1) / 2;
    if (halfway || (digits != 0 && quotient < 0x1p-126)) return nullptr;
  }
  // The sign goes in as a bit: in most data it is random, so a branch on it would often be guessed wrong.
  const std::uint64_t sign = std::uint64_t{negative} << 63;
  value = static_cast<T>(std::bit_cast<double>(std::bit_cast<std::uint64_t>(quotient) | sign));
  return p;
}

/// The minus sign of typesetters, U+2212, as UTF-8.
inline constexpr std::string_view kTypesetMinus = "\xE2\x88\x92";

/// Reads a number as `parse_number` does that is spelt in another way: with D or d before its exponent, as Fortran
/// writes doubles, or with U+2212 as its sign. Null if it is not.
template <typename T>
[[gnu::noinline]] const char* parse_other_spelling(const char* first, const char* last, T& value) {
  std::string plain;
  std::size_t minuses = 0;
  for (const char* p = first; p != last;) {
    if (std::string_view(p, last).starts_with(kTypesetMinus)) {
      plain += '-';
      p += kTypesetMinus.size();
      ++minuses;
    } else if ((*p | 0x21) == 'e') {
      plain += 'e';
      ++p;
    } else if ((*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '+') {
      plain += *p++;
    } else {
      break;
    }
  }
  const auto [end, error] = fast_float::from_chars(plain.data(), plain.data() + plain.size(), value);
  // A sign that is left over is behind the number, and then the whole is none.
  if (error == std::errc::invalid_argument || end != plain.data() + plain.size()) return nullptr;
  return first + plain.size() + minuses * (kTypesetMinus.size() - 1);
}

/// Reads a number at `first`; returns where it ends, or null if there is none. Values beyond the type's range become
/// infinity. A leading '+' is allowed, and so are Fortran's exponents (1.5D+03) and the minus sign U+2212.
template <typename T>
const char* parse_number(const char* first, const char* last, T& value) {
  if (first == last) return nullptr;
  if (*first == '+') {
    ++first;
    if (first == last || *first == '-' || *first == kTypesetMinus[0]) return nullptr;
  }
  const auto [end, error] = fast_float::from_chars(first, last, value);
  const bool is_number = error != std::errc::invalid_argument;
  const bool may_go_on = is_number ? end != last && (*end | 0x21) == 'e' : *first == kTypesetMinus[0];
  if (may_go_on) {
    T other;
    if (const char* const other_end = parse_other_spelling(first, last, other)) {
      value = other;
      return other_end;
    }
  }
  return is_number ? end : nullptr;
}

/// Whether `text`, read as `value`, is a whole number from 2^53 on that T does not hold.
template <typename T>
bool is_rounded_whole(std::string_view text, T value) {
  if (!(value >= T{0x1p53} || value <= -T{0x1p53})) return false;
  text.remove_prefix(std::min(text.find_first_not_of("+-0"), text.size()));
  return text.find_first_not_of("0123456789") == std::string_view::npos &&
         fmt::format("{:.0f}", std::abs(value)) != text;
}

}  // namespace kith::io::inline v0
