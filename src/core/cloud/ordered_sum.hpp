// Sums in one fixed order, so that they have the same bits for every number of threads and on every device.
//
// Items are added in groups of 32 by halves (16 + 16, 8 + 8, …, as the lanes of a warp do), the 8 groups of a block one
// after the other; the sums of blocks are the items of the next level, until one is left. Missing items are +0.
#pragma once

#include "core/host_device.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kith::core {

inline constexpr std::uint32_t kSumGroup = 32;
inline constexpr std::uint32_t kSumBlock = 256;

/// Several numbers that are added up side by side.
template <int N>
using Terms = std::array<double, N>;

/// Blocks of so many items.
KITH_HOST_DEVICE constexpr std::uint64_t sum_blocks(std::uint64_t items) { return (items + kSumBlock - 1) / kSumBlock; }

/// The sum of the items of one block: `item(i, terms)` sets the terms of item i, for i in [first, last), at most
/// kSumBlock.
template <int N, typename Item>
Terms<N> sum_of_block(std::uint64_t first, std::uint64_t last, const Item& item) {
  Terms<N> sum{};
  Terms<N> group[kSumGroup];
  for (std::uint64_t start = first; start < last; start += kSumGroup) {
    for (std::uint32_t lane = 0; lane < kSumGroup; ++lane) {
      group[lane] = {};
      if (start + lane < last) item(start + lane, group[lane]);
    }
    for (std::uint32_t half = kSumGroup / 2; half > 0; half /= 2) {
      for (std::uint32_t lane = 0; lane < half; ++lane) {
        for (int j = 0; j < N; ++j) group[lane][j] += group[lane + half][j];
      }
    }
    for (int j = 0; j < N; ++j) sum[j] += group[0][j];
  }
  return sum;
}

/// The sum of sums of blocks, which are used up.
template <int N>
Terms<N> sum_of_blocks(std::vector<Terms<N>>& blocks) {
  if (blocks.empty()) return {};
  while (blocks.size() > 1) {
    const std::uint64_t count = sum_blocks(blocks.size());
    for (std::uint64_t b = 0; b < count; ++b) {
      const std::uint64_t last = std::min<std::uint64_t>(blocks.size(), (b + 1) * kSumBlock);
      blocks[b] = sum_of_block<N>(b * kSumBlock, last, [&](std::uint64_t i, Terms<N>& terms) { terms = blocks[i]; });
    }
    blocks.resize(count);
  }
  return blocks.front();
}

}  // namespace kith::core
