// Turns digits into the nearest float or double: short plain decimals at once, everything else through fast_float.
#pragma once

#include <fast_float/fast_float.h>

#include <bit>
#include <cstdint>
#include <system_error>
#include <type_traits>

namespace kith::io {

/// 10^0 to 10^22: the powers of ten that a double holds exactly.
inline constexpr double kExactPowersOfTen[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads digits with at most one point among them and no exponent, such as -12.345678. Both the digits, as an integer
/// up to 2^53, and the power of ten are exact as doubles, so one division rounds correctly. Returns where the number
/// ends, or null if it is longer, has an exponent or is none; that says nothing about it yet. The text must be followed
/// by a character that is neither digit nor point, e.g. a line feed.
template <typename T>
const char* parse_plain_decimal(const char* first, T& value) {
  const bool negative = *first == '-';
  const char* p = first + (negative ? 1 : 0);
  std::uint64_t digits = 0;
  const char* const integer = p;
  for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) < 10; ++p) digits = digits * 10 + digit;
  std::ptrdiff_t count = p - integer;
  std::ptrdiff_t decimals = 0;
  if (*p == '.') {
    const char* const fraction = ++p;
    for (unsigned digit; (digit = static_cast<unsigned char>(*p) - unsigned{'0'}) < 10; ++p)
      digits = digits * 10 + digit;
    decimals = p - fraction;
    count += decimals;
  }
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  // Up to 19 digits do not overflow; 2^53 has 16. A letter may begin an exponent.
  if (count == 0 || count > 19 || digits > kExact || (*p | 0x20) == 'e') return nullptr;
  const double quotient = static_cast<double>(digits) / kExactPowersOfTen[decimals];
  if constexpr (std::is_same_v<T, float>) {
    // Rounding a second time is harmless unless the double lies just halfway between two floats (the true value may lie
    // on either side of it), or the float is subnormal, where the halves lie elsewhere.
    constexpr std::uint64_t kDropped = (std::uint64_t{1} << 29) - 1;
    const bool halfway = (std::bit_cast<std::uint64_t>(quotient) & kDropped) == (kDropped + 1) / 2;
    if (halfway || (digits != 0 && quotient < 0x1p-126)) return nullptr;
  }
  value = static_cast<T>(negative ? -quotient : quotient);
  return p;
}

/// Reads a number at `first`; returns where it ends, or null if there is none. Values beyond the type's range become
/// infinity. A leading '+' is allowed.
template <typename T>
const char* parse_number(const char* first, const char* last, T& value) {
  if (first == last) return nullptr;
  if (*first == '+') {
    ++first;
    if (first == last || *first == '-') return nullptr;
  }
  const auto [end, error] = fast_float::from_chars(first, last, value);
  return error == std::errc::invalid_argument ? nullptr : end;
}

}  // namespace kith::io
