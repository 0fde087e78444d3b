// Before ranges are split: the points side by side by coordinate, the ranges of a level, their boxes and what splits
// them.
#pragma once

#include "cuda/ordered_tree/order_range.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename T>
__global__ void __launch_bounds__(kOrderThreads) take_points(OrderTask<T> task, MovedPoints<T> to) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kOrderThreads + thread_number(); i < task.count;
       i += std::uint64_t{blocks_in_grid()} * kOrderThreads) {
    const std::uint32_t number = task.numbers == nullptr ? static_cast<std::uint32_t>(i) : task.numbers[i];
    const auto p = static_cast<std::uint32_t>(i);
    for (std::uint32_t d = 0; d < task.dims; ++d) to.at(p, d) = task.rows[number * task.row_stride + d];
    to.numbers[p] = number;
  }
}

/// A thread per range: where its halves will be, and that nothing is known of its node.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) begin_level(OrderLevel<T> level) {
  const std::uint32_t range = block_number() * kOrderThreads + thread_number(), ranges = 1u << level.level;
  if (range >= ranges) return;
  const std::uint32_t first = level.first[range], last = level.first[range + 1] - 1;
  const std::uint32_t middle = middle_of(first, last, level.takes_left);
  level.next_first[2 * range] = first;
  level.next_first[2 * range + 1] = middle + 1;
  if (range + 1 == ranges) level.next_first[2 * ranges] = last + 1;
  MiddleSearch<T>& search = level.searches[range];
  search.low = 0;
  search.high = ~OrderedKey<T>{0};
  search.dim = level.level % level.dims;
  search.stage = 0;
  search.rank = middle - first;
  search.candidates = last - first;
  search.place = 0;
  search.is_found = 0;
}

/// The dimension of the widest side, ties to the lowest, and its ends. `lower(d)` and `upper(d)` are coordinates.
template <typename T, typename Lower, typename Upper>
__device__ std::uint32_t widest_side(std::uint32_t dims, Lower&& lower, Upper&& upper) {
  std::uint32_t widest = 0;
  T most = upper(0) - lower(0);
  for (std::uint32_t d = 1; d < dims; ++d) {
    const T side = upper(d) - lower(d);
    if (side > most) {
      most = side;
      widest = d;
    }
  }
  return widest;
}

/// Blocks of ranges: the boxes of all ranges; the last block of a range chooses its dimension.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) find_boxes(OrderLevel<T> level) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kWarps = kOrderThreads / kWarp;
  Key* const warp_keys = reinterpret_cast<Key*>(shared_memory());  // [least, greatest][warp]
  std::uint32_t* const is_last = reinterpret_cast<std::uint32_t*>(warp_keys + 2 * kWarps);
  const BlockRange block(level);
  Key* const box = level.boxes + std::uint64_t{block.range} * 2 * level.dims;
  for (std::uint32_t d = 0; d < level.dims; ++d) {
    if (level.cycles && d != level.level % level.dims) continue;
    Key least = 0, greatest = 0;  // the complement of the least
    for (std::uint32_t p = block.begin + thread_number(); p < block.end; p += kOrderThreads) {
      const Key key = ordered_key(level.from.at(p, d));
      least = ~key > least ? static_cast<Key>(~key) : least;
      greatest = key > greatest ? key : greatest;
    }
    least = max_of_warp(least);
    greatest = max_of_warp(greatest);
    sync_block();
    if (lane_number() == 0) {
      warp_keys[warp_number()] = least;
      warp_keys[kWarps + warp_number()] = greatest;
    }
    sync_block();
    if (thread_number() < 2) {
      Key most = 0;
      for (std::uint32_t warp = 0; warp < kWarps; ++warp) {
        const Key key = warp_keys[thread_number() * kWarps + warp];
        most = key > most ? key : most;
      }
      atomic_max(&box[thread_number() * level.dims + d], most);
    }
  }
  if (!is_last_block(level, block.range, is_last) || thread_number() != 0) return;
  const auto lower = [&](std::uint32_t d) { return value_of_key<T>(static_cast<Key>(~load_fresh(&box[d]))); };
  const auto upper = [&](std::uint32_t d) { return value_of_key<T>(load_fresh(&box[level.dims + d])); };
  MiddleSearch<T>& search = level.searches[block.range];
  if (!level.cycles) search.dim = widest_side<T>(level.dims, lower, upper);
  search.low = static_cast<Key>(~load_fresh(&box[search.dim]));
  search.high = load_fresh(&box[level.dims + search.dim]);
}

}  // namespace kith::cuda
