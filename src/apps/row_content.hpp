// What two rows have in common: finite or not, equal or not, a hash that equal rows share.
#pragma once

#include "apps/random_draws.hpp"

#include <kith/point_view.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace kith::apps::inline v0 {

template <typename T>
bool is_finite_row(const T* row, std::uint32_t dims) {
  return std::all_of(row, row + dims, [](T value) { return std::isfinite(value); });
}

/// Equal for equal rows; -0 counts as +0.
template <typename T>
std::uint64_t hash_of_row(const T* row, std::uint32_t dims) {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const T canonical = row[d] + T{0};  // turns -0 into +0 and nothing else
    hash = scramble(hash ^ std::bit_cast<Word>(canonical)) + d;
  }
  return hash;
}

/// Lexicographic: below, at or above 0. -0 equals +0; no row holds NaN.
template <typename T>
int compare_rows(const T* left, const T* right, std::uint32_t dims) {
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (left[d] != right[d]) return left[d] < right[d] ? -1 : 1;
  }
  return 0;
}

}  // namespace kith::apps::inline v0
