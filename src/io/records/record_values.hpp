// One number of a file, of any type and byte order, as a coordinate.
#pragma once

#include "io/records/record_type.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace kith::io::inline v0 {

/// Half precision; a type of its own, because C++20 has none.
struct Half {
  std::uint16_t bits;
};
/// One byte that means true or false.
struct Boolean {
  std::uint8_t byte;
};

template <typename U>
constexpr U reversed_bytes(U value) {
  if constexpr (sizeof(U) == 1) {
    return value;
  } else if constexpr (sizeof(U) == 2) {
    return static_cast<U>(__builtin_bswap16(value));
  } else if constexpr (sizeof(U) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

/// The value at `from`, which need not be aligned.
template <typename T, bool kSwap>
T load_value(const char* from) {
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  Bits bits;
  std::memcpy(&bits, from, sizeof(bits));
  if constexpr (kSwap) bits = reversed_bytes(bits);
  return std::bit_cast<T>(bits);
}

/// Exact: every half is a float.
inline float float_of(Half half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1fu;
  std::uint32_t fraction = half.bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // a denormal half, or zero
  return sign ? -magnitude : magnitude;
}

/// What conversions did to values that the target type cannot hold.
struct ConversionLosses {
  std::uint64_t inexact_integers = 0;  ///< integers that lost digits
  std::uint64_t overflows = 0;         ///< finite values that became infinite

  ConversionLosses& operator+=(const ConversionLosses& other) {
    inexact_integers += other.inexact_integers;
    overflows += other.overflows;
    return *this;
  }
};

template <typename D, typename S>
D convert_value(S value, ConversionLosses& losses) {
  if constexpr (std::is_same_v<S, Half>) {
    return static_cast<D>(float_of(value));
  } else if constexpr (std::is_same_v<S, Boolean>) {
    return value.byte != 0 ? D{1} : D{0};
  } else if constexpr (std::is_integral_v<S>) {
    constexpr int kDigits = std::numeric_limits<D>::digits;
    if constexpr (std::numeric_limits<S>::digits > kDigits) {
      using U = std::make_unsigned_t<S>;
      const U magnitude = value < 0 ? static_cast<U>(U{0} - static_cast<U>(value)) : static_cast<U>(value);
      if ((magnitude >> kDigits) != 0 && std::bit_width(magnitude) - std::countr_zero(magnitude) > kDigits) {
        ++losses.inexact_integers;
      }
    }
    return static_cast<D>(value);
  } else if constexpr (sizeof(S) > sizeof(D)) {
    // What rounds to 2^128 or above has no float; converting it is defined by IEEE 754, not by C++.
    constexpr double kFirstOverflow = 0x1.ffffffp127;
    if (value >= kFirstOverflow || value <= -kFirstOverflow) {
      const bool infinite = value - value != 0;
      if (!infinite) ++losses.overflows;
      return value > 0 ? std::numeric_limits<D>::infinity() : -std::numeric_limits<D>::infinity();
    }
    return static_cast<D>(value);
  } else {
    return static_cast<D>(value);
  }
}

/// Calls `action(S{})` with the C++ type of a NumberType.
template <typename Action>
void with_number_type(NumberType type, Action&& action) {
  switch (type) {
    case NumberType::boolean:
      return action(Boolean{});
    case NumberType::i8:
      return action(std::int8_t{});
    case NumberType::u8:
      return action(std::uint8_t{});
    case NumberType::i16:
      return action(std::int16_t{});
    case NumberType::u16:
      return action(std::uint16_t{});
    case NumberType::i32:
      return action(std::int32_t{});
    case NumberType::u32:
      return action(std::uint32_t{});
    case NumberType::i64:
      return action(std::int64_t{});
    case NumberType::u64:
      return action(std::uint64_t{});
    case NumberType::f16:
      return action(Half{});
    case NumberType::f32:
      return action(float{});
    case NumberType::f64:
      return action(double{});
  }
}

}  // namespace kith::io::inline v0
