// The least and the largest values of chosen rows, dimension by dimension, two per instruction.
#pragma once

#include "select_median.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

namespace kith::python {

/// The least and the largest of at least two values.
inline std::pair<double, double> extremes(std::span<const double> values) {
  Pair lows = load_pair(values.data() + values.size() - 2), highs = lows;  // one of them may come twice
  for (std::size_t i = 0; i + 2 <= values.size(); i += 2) {
    const Pair pair = load_pair(values.data() + i);
    lows = lower(lows, pair);
    highs = higher(highs, pair);
  }
  return {std::min(lows[0], lows[1]), std::max(highs[0], highs[1])};
}

/// The least and the largest values of dimensions, pair by pair; `at` says where the pairs begin. A list of numbers
/// instead of a loop keeps the compiler from holding the extremes in memory.
template <std::uint32_t... at>
void find_extremes(const double* rows, std::int64_t stride, std::span<const std::uint32_t> numbers, double* low,
                   double* high) {
  const double* row = rows + numbers[0] * stride;
  std::tuple lows(load_pair(row + at)...), highs(lows);
  for (const std::uint32_t number : numbers.subspan(1)) {
    row = rows + number * stride;
    std::apply([row](auto&... pair) { ((pair = lower(pair, load_pair(row + at))), ...); }, lows);
    std::apply([row](auto&... pair) { ((pair = higher(pair, load_pair(row + at))), ...); }, highs);
  }
  std::apply([low](auto... pair) { (store_pair(low + at, pair), ...); }, lows);
  std::apply([high](auto... pair) { (store_pair(high + at, pair), ...); }, highs);
}

/// Of at least two dimensions and one row: those that the numbers pick.
inline void box_of_rows(const double* rows, std::int64_t stride, std::span<const std::uint32_t> numbers,
                        std::uint32_t dims, double* low, double* high) {
  using Find = void (*)(const double*, std::int64_t, std::span<const std::uint32_t>, double*, double*);
  constexpr Find kByDims[] = {nullptr,
                              nullptr,
                              find_extremes<0>,
                              find_extremes<0, 1>,
                              find_extremes<0, 2>,
                              find_extremes<0, 2, 3>,
                              find_extremes<0, 2, 4>,
                              find_extremes<0, 2, 4, 5>,
                              find_extremes<0, 2, 4, 6>};
  for (std::uint32_t d = 0; d < dims; d += 8) {
    const std::uint32_t first = std::min(d, dims - 2);
    kByDims[std::min(dims - first, 8u)](rows + first, stride, numbers, low + first, high + first);
  }
}

}  // namespace kith::python
