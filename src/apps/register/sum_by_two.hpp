// The sum of a block in the order of core/cloud/ordered_sum.hpp, two items at a time in the halves of vectors.
#pragma once

#include "core/cloud/ordered_sum.hpp"

#include <cstdint>

namespace kith::apps::inline v0 {

/// The same number of two neighbouring items.
typedef double Two __attribute__((vector_size(16)));

/// `items(i, terms)` sets the terms of items i and i + 1 and returns which of them count, bit 0 for the first one; the
/// terms of the other are ignored. Called for every second item of the block; of the last one alone if their number is
/// odd.
template <int N, typename Items>
core::Terms<N> sum_of_block_by_two(std::uint64_t first, std::uint64_t last, const Items& items) {
  constexpr std::uint32_t kTwos = core::kSumGroup / 2;
  core::Terms<N> sum{};
  Two group[kTwos][N];
  for (std::uint64_t start = first; start < last; start += core::kSumGroup) {
    for (std::uint32_t two = 0; two < kTwos; ++two) {
      const std::uint64_t item = start + 2 * two;
      const std::uint32_t counting = item < last ? items(item, group[two]) : 0;
      for (std::uint32_t lane = 0; lane < 2; ++lane) {
        if (counting >> lane & 1) continue;
        for (int j = 0; j < N; ++j) group[two][j][lane] = 0;
      }
    }
    for (std::uint32_t half = kTwos / 2; half > 0; half /= 2) {
      for (std::uint32_t two = 0; two < half; ++two) {
        for (int j = 0; j < N; ++j) group[two][j] += group[two + half][j];
      }
    }
    for (int j = 0; j < N; ++j) sum[j] += group[0][j][0] + group[0][j][1];
  }
  return sum;
}

}  // namespace kith::apps::inline v0
