// The kernels around the sort of a whole level by `segsort`.
#pragma once

#include "cuda/kd_tree/build/builders/levels/level_kernels.cuh"
#include "cuda/kd_tree/build/builders/levels/sort_node.cuh"

namespace kith::cuda {

/// Bits of coordinates where those of the node come first in a key of 32.
KITH_HOST_DEVICE inline std::uint32_t sorted_bits_at(std::uint32_t level) {
  return level + kSortedBits <= 32 ? kSortedBits : 32 - level;
}

/// The keys that sort a level: node, then coordinate.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) make_sorted_keys(LevelTask<T> task) {
  const std::uint32_t node = node_of_block(task), bits = sorted_bits_at(task.level);
  const NodeSearch<T> search = task.searches[node];
  const RangeTile tile(task, search.begin, search.count);
  const std::uint32_t shift = shift_of(search, bits);
#pragma unroll 4
  for (std::uint32_t i = thread_number(); i < tile.size; i += kLevelThreads) {
    const OrderedKey<T> key = ordered_key(task.source.at(task.numbers[tile.begin + i], search.dim));
    task.sorted_keys[0][tile.begin + i] = node << bits | digit_of(search, shift, key);
  }
}

/// A warp per node: the points that share the number of the middle one. Counts the nodes where they are many.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) search_among_sorted(LevelTask<T> task) {
  const std::uint32_t node = block_number() * kLevelWarps + warp_number(), bits = sorted_bits_at(task.level);
  if (node >> task.level != 0) return;
  NodeSearch<T> search = task.searches[node];
  search_among_equal(search, shift_of(search, bits), [&](std::uint32_t place) {
    return task.sorted_keys[0][place] & ((std::uint64_t{1} << bits) - 1);
  });
  sync_warp();
  if (lane_number() != 0) return;
  task.searches[node] = search;
  if (search.count > task.long_list) atomic_add(task.open, 1u);
}

/// Copies those points, to be moved from there.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) copy_equal(LevelTask<T> task) {
  const NodeSearch<T> search = task.searches[node_of_block(task)];
  const RangeTile tile(task, search.begin, search.range_count);
  for (std::uint32_t i = thread_number(); i < tile.size; i += kLevelThreads) {
    task.other_numbers[tile.begin + i] = task.numbers[tile.begin + i];
  }
}

}  // namespace kith::cuda
