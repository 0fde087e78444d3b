// Sums over many items by all threads, in the order of core/cloud/ordered_sum.hpp.
#pragma once

#include "core/cloud/ordered_sum.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::apps::inline v0 {

/// `sum(first, last)` is the sum of the items of one block, from `first` to before `last`, in the order of
/// `core::sum_of_block`; called once for each, by any thread.
template <int N, typename BlockSum>
core::Terms<N> ordered_total_of_blocks(std::uint64_t items, const runtime::ParallelOptions& options,
                                       const BlockSum& sum) {
  constexpr std::uint64_t kBlocksPerTask = 8;
  std::vector<core::Terms<N>> blocks(core::sum_blocks(items));
  const std::uint64_t tasks = (blocks.size() + kBlocksPerTask - 1) / kBlocksPerTask;
  runtime::parallel_for(tasks, options, [&](std::uint64_t task) {
    const std::uint64_t end = std::min<std::uint64_t>(blocks.size(), (task + 1) * kBlocksPerTask);
    for (std::uint64_t b = task * kBlocksPerTask; b < end; ++b) {
      const std::uint64_t first = b * core::kSumBlock;
      blocks[b] = sum(first, std::min(items, first + core::kSumBlock));
    }
  });
  return core::sum_of_blocks<N>(blocks);
}

/// `item(i, terms)` sets the terms of item i; called once for each, by any thread.
template <int N, typename Item>
core::Terms<N> ordered_total(std::uint64_t items, const runtime::ParallelOptions& options, const Item& item) {
  return ordered_total_of_blocks<N>(items, options, [&](std::uint64_t first, std::uint64_t last) {
    return core::sum_of_block<N>(first, last, item);
  });
}

}  // namespace kith::apps::inline v0
