// The number types that binary files store, and the coordinate type that each becomes.
#pragma once

#include <kith/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kith::io::inline v0 {

/// How a number lies in a file; byte order is said elsewhere.
enum class NumberType : std::uint8_t { boolean, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64 };

/// Bytes of one number.
constexpr std::size_t size_of(NumberType type) {
  switch (type) {
    case NumberType::boolean:
    case NumberType::i8:
    case NumberType::u8:
      return 1;
    case NumberType::i16:
    case NumberType::u16:
    case NumberType::f16:
      return 2;
    case NumberType::i32:
    case NumberType::u32:
    case NumberType::f32:
      return 4;
    case NumberType::i64:
    case NumberType::u64:
    case NumberType::f64:
      return 8;
  }
  return 0;
}

/// "bool", "i8", …, "f64".
constexpr std::string_view name_of(NumberType type) {
  constexpr std::string_view kNames[] = {"bool", "i8",  "u8",  "i16", "u16", "i32",
                                         "u32",  "i64", "u64", "f16", "f32", "f64"};
  return kNames[static_cast<std::size_t>(type)];
}

constexpr bool is_integer(NumberType type) { return type >= NumberType::i8 && type <= NumberType::u64; }

/// The coordinate type that holds every value of `type`, or (64-bit integers) comes closest.
constexpr DType natural_dtype(NumberType type) {
  switch (type) {
    case NumberType::i32:
    case NumberType::u32:
    case NumberType::i64:
    case NumberType::u64:
    case NumberType::f64:
      return DType::f64;
    default:
      return DType::f32;
  }
}

}  // namespace kith::io::inline v0
