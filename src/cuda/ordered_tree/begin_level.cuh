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

/// The dimension of the widest side, ties to the lowest. `lower(d)` and `upper(d)` are coordinates.
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

/// A thread per range: where its halves will be, what splits it, and that nothing is known of its node.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) begin_level(OrderLevel<T> level) {
  using Key = OrderedKey<T>;
  const std::uint32_t range = block_number() * kOrderThreads + thread_number(), ranges = 1u << level.level;
  if (range >= ranges || *level.open != 0) return;
  const std::uint32_t first = level.first[range], last = level.first[range + 1] - 1;
  const std::uint32_t middle = middle_of(first, last, level.takes_left);
  level.next_first[2 * range] = first;
  level.next_first[2 * range + 1] = middle + 1;
  if (range + 1 == ranges) level.next_first[2 * ranges] = last + 1;
  const Key* const box = level.boxes + std::uint64_t{range} * 2 * level.dims;
  const auto lower = [&](std::uint32_t d) { return value_of_key<T>(static_cast<Key>(~box[d])); };
  const auto upper = [&](std::uint32_t d) { return value_of_key<T>(box[level.dims + d]); };
  MiddleSearch<T>& search = level.searches[range];
  search.dim = level.cycles ? level.level % level.dims : widest_side<T>(level.dims, lower, upper);
  search.low = static_cast<Key>(~box[search.dim]);
  search.high = box[level.dims + search.dim];
  search.stage = 0;
  search.rank = middle - first;
  search.candidates = last - first;
  search.place = 0;
  search.is_found = 0;
  level.moved[2 * range] = level.moved[2 * range + 1] = level.listed[range] = 0;
  for (std::uint32_t i = 0; level.next_boxes != nullptr && i < 4 * level.dims; ++i) {
    level.next_boxes[std::uint64_t{range} * 4 * level.dims + i] = 0;
  }
}

/// Puts what a block has found of boxes, in shared memory, into those of all blocks.
template <typename Key>
__device__ void join_boxes(Key* boxes, const Key* found, std::uint32_t size) {
  for (std::uint32_t i = thread_number(); i < size; i += kOrderThreads) {
    if (found[i] > load_fresh(&boxes[i])) atomic_max(&boxes[i], found[i]);
  }
}

/// The box of the root, which begins as 0.
template <typename T>
__global__ void __launch_bounds__(kOrderThreads) find_box(OrderLevel<T> level) {
  using Key = OrderedKey<T>;
  Key* const found = reinterpret_cast<Key*>(shared_memory());
  const BlockRange block(level);
  for (std::uint32_t i = thread_number(); i < 2 * level.dims; i += kOrderThreads) found[i] = 0;
  sync_block();
  for (std::uint32_t d = 0; d < level.dims; ++d) {
    if (level.cycles && d != 0) continue;
    Key least = 0, greatest = 0;  // the complement of the least
    for (std::uint32_t p = block.begin + thread_number(); p < block.end; p += kOrderThreads) {
      const Key key = ordered_key(level.from.at(p, d));
      least = ~key > least ? static_cast<Key>(~key) : least;
      greatest = key > greatest ? key : greatest;
    }
    least = max_of_warp(least);
    greatest = max_of_warp(greatest);
    if (lane_number() == 0) {
      atomic_max(&found[d], least);
      atomic_max(&found[level.dims + d], greatest);
    }
  }
  sync_block();
  join_boxes(level.boxes, found, 2 * level.dims);
}

}  // namespace kith::cuda
