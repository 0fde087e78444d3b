// Coordinates as whole numbers of few bits in the same order: what radix sorts and selections count by.
#pragma once

#include "core/order/ordered_bits.hpp"

#include <bit>
#include <cstdint>

namespace kith::cpu {

template <typename T>
using OrderedBits = decltype(core::ordered_bits(T{}));

/// The same for -0 and +0.
template <typename T>
OrderedBits<T> ordered_coordinate(T x) {
  return core::ordered_bits(x + T(0));
}

/// Maps the coordinates from `low` to `high` to numbers of at most `bits` bits, in order. Equal ones get equal numbers;
/// different ones may, too.
template <typename T>
struct Quantised {
  OrderedBits<T> low = 0;
  std::uint32_t shift = 0;

  static Quantised between(T low, T high, std::uint32_t bits) {
    const OrderedBits<T> first = ordered_coordinate(low);
    const auto width = static_cast<std::uint32_t>(std::bit_width(ordered_coordinate(high) - first));
    return {first, width > bits ? width - bits : 0};
  }

  std::uint32_t operator()(T x) const { return static_cast<std::uint32_t>((ordered_coordinate(x) - low) >> shift); }
};

}  // namespace kith::cpu
