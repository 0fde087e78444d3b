// Sorts numbers by the values they stand for, digit by digit: no branch depends on a value.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace kith::python {

/// Bits that ascend as the values do; both zeros are one.
inline std::uint64_t ascending_bits(double value) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Ascending by `value_of(number)`; numbers of equal values keep their order. 32 bytes per number while it sorts.
template <typename ValueOf>
void sort_numbers(std::span<std::uint32_t> numbers, ValueOf&& value_of) {
  struct Item {
    std::uint64_t bits;
    std::uint32_t number;
  };
  constexpr std::size_t kDigits = 8;
  const auto items = std::make_unique_for_overwrite<Item[]>(2 * numbers.size());
  Item* from = items.get();
  Item* to = from + numbers.size();
  std::array<std::array<std::uint32_t, 256>, kDigits> places{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    from[i] = {ascending_bits(value_of(numbers[i])), numbers[i]};
    for (std::size_t d = 0; d < kDigits; ++d) ++places[d][from[i].bits >> 8 * d & 255];
  }
  for (std::size_t d = 0; d < kDigits; ++d) {
    const auto digit = [d](const Item& item) { return item.bits >> 8 * d & 255; };
    if (numbers.empty() || places[d][digit(*from)] == numbers.size()) continue;  // all have the same
    std::uint32_t before = 0;
    for (std::uint32_t& place : places[d]) before += std::exchange(place, before);
    for (std::size_t i = 0; i < numbers.size(); ++i) to[places[d][digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = from[i].number;
}

}  // namespace kith::python
