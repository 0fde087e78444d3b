// Which queries a launch takes, and in which order: by leaf, so that warps that run at the same time read the same part
// of the tree.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/warp/query_warp.cuh"
#include "cuda/kd_tree/search/search_types.hpp"

namespace kith::cuda {

/// The leaf on whose side of every split the query lies; any leaf is right, this one is near.
template <typename T>
__device__ std::uint32_t near_leaf(const SearchTree<T>& tree, const T* query) {
  std::uint64_t node = 0;
  for (std::uint32_t level = 0; level < tree.geometry.levels; ++level) {
    node = 2 * node + 1 + (query[tree.split_dims[node]] < tree.split_values[node] ? 0 : 1);
  }
  return static_cast<std::uint32_t>(node - (tree.geometry.leaves() - 1));
}

/// Finds the leaf of each row and counts the rows of each leaf; `counts` begin as zeros. A thread per row.
template <typename T>
__global__ void __launch_bounds__(kSearchThreads)
    count_in_leaves(SearchTree<T> tree, const T* rows, std::uint64_t row_stride, std::uint64_t count,
                    std::uint32_t* leaf_of, std::uint32_t* counts) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < count; i += step) {
    const std::uint32_t leaf = near_leaf(tree, rows + i * row_stride);
    leaf_of[i] = leaf;
    atomic_add(counts + leaf, 1u);
  }
}

/// Rows by leaf; `starts` has where each leaf begins, and where it ends when all is done.
template <typename Number>
__global__ void __launch_bounds__(kSearchThreads)
    order_by_leaf(const Number* leaf_of, std::uint64_t count, Number* starts, Number* order) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  for (std::uint64_t i = std::uint64_t{block_number()} * threads_per_block() + thread_number(); i < count; i += step) {
    order[atomic_add(starts + leaf_of[i], Number{1})] = static_cast<Number>(i);
  }
}

/// The places of the points numbered from `first` to `end`, about in their order. A warp per leaf; `count` begins as 0.
template <typename T>
__global__ void __launch_bounds__(kSearchThreads)
    choose_places(SearchTree<T> tree, std::uint32_t first, std::uint32_t end, std::uint32_t* chosen,
                  std::uint32_t* count) {
  for (std::uint64_t number = search_warp(); number < tree.geometry.leaves(); number += search_warps()) {
    const SearchLeaf<T> leaf = tree.leaf(number);
    const std::uint64_t place = tree.geometry.first(tree.geometry.levels, number);
    for (std::uint32_t i = lane_number(); i < (leaf.count + kWarp - 1) / kWarp * kWarp; i += kWarp) {
      const bool is_chosen = i < leaf.count && leaf.numbers[i] >= first && leaf.numbers[i] < end;
      const std::uint32_t all = ballot(is_chosen);
      if (all == 0) continue;
      std::uint32_t at = lane_number() == 0 ? atomic_add(count, count_bits(all)) : 0;
      at = shuffle(at, 0) + count_bits(all & ((1u << lane_number()) - 1));
      if (is_chosen) chosen[at] = static_cast<std::uint32_t>(place + i);
    }
  }
}

}  // namespace kith::cuda
