// Coordinates as integers in the same order: comparing integers is faster than comparing floating-point numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kith::split {

template <typename T>
using OrderedInteger = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

namespace detail {

/// Negative numbers have their order in reverse; its own inverse.
template <typename Integer>
Integer turn_negative(Integer bits) {
  return bits ^ ((bits >> (8 * sizeof(Integer) - 1)) & std::numeric_limits<Integer>::max());
}

}  // namespace detail

/// Of a number that is not NaN. -0 counts as +0.
template <typename T>
OrderedInteger<T> to_ordered(T x) {
  return detail::turn_negative(std::bit_cast<OrderedInteger<T>>(x + T(0)));
}
template <typename T>
T from_ordered(OrderedInteger<T> key) {
  return std::bit_cast<T>(detail::turn_negative(key));
}

}  // namespace kith::split
