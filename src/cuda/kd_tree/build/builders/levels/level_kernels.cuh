// The kernels of a level whose nodes are too large for a block: boxes, digits, lists of candidates, pivots, moves.
#pragma once

#include "cuda/kd_tree/build/builders/levels/find_pivot.cuh"

namespace kith::cuda {

/// The share of a block in a range of `count` places that all blocks of a node work on.
struct RangeTile {
  std::uint32_t begin, size;

  template <typename T>
  __device__ RangeTile(const LevelTask<T>& task, std::uint32_t first, std::uint32_t count) {
    const std::uint32_t before = block_number() % task.parts * kLevelTile;
    begin = first + before;
    size = before >= count ? 0 : count - before < kLevelTile ? count - before : kLevelTile;
  }
};

template <typename T>
__device__ __forceinline__ std::uint32_t node_of_block(const LevelTask<T>& task) {
  return block_number() / task.parts;
}

template <typename T>
__global__ void __launch_bounds__(kLevelThreads) number_points(LevelTask<T> task) {
  for (std::uint64_t i = std::uint64_t{block_number()} * kLevelThreads + thread_number();
       i < task.shape.geometry.points; i += std::uint64_t{blocks_in_grid()} * kLevelThreads) {
    task.numbers[i] = static_cast<std::uint32_t>(i);
  }
}

/// The tight boxes of a level, as keys: the complement of the least, the greatest. They are zero before.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) find_tight_boxes(LevelTask<T> task) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kTogether = 4;  // dimensions: a row of the points is read once for all of them
  Key* const found = reinterpret_cast<Key*>(shared_memory());  // [2][kTogether]
  const std::uint32_t dims = task.shape.dims, node = node_of_block(task);
  const core::KdGeometry& geometry = task.shape.geometry;
  const auto first = static_cast<std::uint32_t>(geometry.first(task.level, node));
  const RangeTile tile(task, first, static_cast<std::uint32_t>(geometry.first(task.level, node + 1)) - first);
  Key* const box = reinterpret_cast<Key*>(task.box(task.level, node));
  bool is_bad = false;
  for (std::uint32_t base = 0; base < dims; base += kTogether) {
    if (thread_number() < 2 * kTogether) found[thread_number()] = 0;
    sync_block();
    Key not_low[kTogether] = {}, high[kTogether] = {};
    for (std::uint32_t i = thread_number(); i < tile.size; i += kLevelThreads) {
      const std::uint32_t number = task.numbers[tile.begin + i];
#pragma unroll
      for (std::uint32_t k = 0; k < kTogether; ++k) {
        if (base + k >= dims) continue;
        const T x = task.source.at(number, base + k);
        const Key key = ordered_key(x), not_key = static_cast<Key>(~key);
        is_bad = is_bad || !(x - x == T(0));
        not_low[k] = not_key > not_low[k] ? not_key : not_low[k];
        high[k] = key > high[k] ? key : high[k];
      }
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kTogether; ++k) {
      const Key least = max_of_warp(not_low[k]), greatest = max_of_warp(high[k]);
      if (lane_number() == 0) atomic_max(&found[k], least);
      if (lane_number() == 0) atomic_max(&found[kTogether + k], greatest);
    }
    sync_block();
    const std::uint32_t side = thread_number() / kTogether, d = base + thread_number() % kTogether;
    if (side < 2 && d < dims) atomic_max(&box[side * dims + d], found[thread_number()]);
    sync_block();
  }
  if (is_bad) atomic_or(task.refused, 1u);
}

/// A warp per node: its box if that was found as keys, the dimension that it splits, and a search that has not begun.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) begin_nodes(LevelTask<T> task) {
  const std::uint32_t node = block_number() * kLevelWarps + warp_number(), dims = task.shape.dims;
  if (node >> task.level != 0) return;
  T* const box = task.box(task.level, node);
  if (task.level % core::kTightBoxEvery == 0) {
    for (std::uint32_t i = lane_number(); i < 2 * dims; i += kWarp) {
      const OrderedKey<T> key = std::bit_cast<OrderedKey<T>>(box[i]);
      box[i] = value_of_key<T>(i < dims ? static_cast<OrderedKey<T>>(~key) : key);
    }
    sync_warp();
  }
  const std::uint32_t dim = task.shape.cycles ? task.level % dims : widest_side<T>(box, dims);
  if (lane_number() == 0) task.searches[node] = begin_search(task, task.level, node, dim);
}

/// Whether the candidates of a node are counted in this round.
template <typename T>
__device__ __forceinline__ bool is_counted(const LevelTask<T>& task, const NodeSearch<T>& search) {
  return task.round == 0 || search.count > task.long_list;
}

/// Counts the digits of all candidates. In round 0 these are all points, whose keys are kept.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) count_digits(LevelTask<T> task) {
  std::uint32_t* const counters = reinterpret_cast<std::uint32_t*>(shared_memory());
  const std::uint32_t node = node_of_block(task), digits = 1u << task.digit_bits, dims = task.shape.dims;
  NodeSearch<T> search = task.searches[node];
  if (!is_counted(task, search)) return;
  const RangeTile tile(task, search.begin, search.count);
  if (tile.size == 0) return;
  const std::uint32_t* const from = task.round == 0 ? task.numbers : task.lists[(task.round - 1) % 2];
  for (std::uint32_t i = thread_number(); i < digits; i += kLevelThreads) counters[i] = 0;
  sync_block();
  NodeSearch<T> begun = search;
  skip_equal_components(begun, task.shape, task.box(task.level, node));
  const std::uint32_t shift = shift_of(begun, task.digit_bits);
#pragma unroll 4
  for (std::uint32_t i = thread_number(); i < tile.size; i += kLevelThreads) {
    const std::uint32_t number = from[tile.begin + i];
    OrderedKey<T> key = component_key(task.source, dims, number, begun.dim, begun.stage);
    atomic_add(&counters[digit_of(begun, shift, key)], 1u);
    if (task.round > 0) continue;
    if (begun.stage > 0) key = component_key(task.source, dims, number, begun.dim, 0);
    task.keys[tile.begin + i] = key;
  }
  sync_block();
  std::uint32_t* const histogram = task.histogram + (std::uint64_t{node} << task.digit_bits);
  for (std::uint32_t i = thread_number(); i < digits; i += kLevelThreads) {
    if (counters[i] > 0) atomic_add(&histogram[i], counters[i]);
  }
}

/// A warp per node: the digit of the rank. Counts the nodes whose lists will be long.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) choose_digits(LevelTask<T> task) {
  const std::uint32_t node = block_number() * kLevelWarps + warp_number(), digits = 1u << task.digit_bits;
  if (node >> task.level != 0) return;
  NodeSearch<T> search = task.searches[node];
  if (!is_counted(task, search)) return;
  skip_equal_components(search, task.shape, task.box(task.level, node));
  std::uint32_t* const histogram = task.histogram + (std::uint64_t{node} << task.digit_bits);
  search.counted = search.count;
  narrow(search, shift_of(search, task.digit_bits), find_digit(histogram, digits, search.rank));
  search.round = task.round;
  sync_warp();  // all have read the histogram and the search
  for (std::uint32_t i = lane_number(); i < digits; i += kWarp) histogram[i] = 0;
  if (lane_number() != 0) return;
  task.searches[node] = search;
  task.cursors[node * kLevelCursors + kListedCursor] = 0;
  if (search.count > task.long_list) atomic_add(task.open, 1u);
}

/// Shared memory of move_tile.
struct MoveShared {
  std::uint32_t places[2][kLevelWarps];
};

/// Calls side(i, from[i]) for the places of a tile: 0, 1, or 2 for a point that stays behind; then put(side, place,
/// number) with places counted by the cursors of the two sides, in no certain order.
template <typename Side, typename Put>
__device__ __forceinline__ void move_tile(const RangeTile& tile, const std::uint32_t* from, std::uint32_t* cursors,
                                          Side&& side, Put&& put) {
  MoveShared& shared = *reinterpret_cast<MoveShared*>(shared_memory());
  for (std::uint32_t first = 0; first < tile.size; first += kMovedRows * kLevelThreads) {
    std::uint32_t number[kMovedRows], sides[kMovedRows], place[kMovedRows], counts[2] = {};
#pragma unroll
    for (std::uint32_t k = 0; k < kMovedRows; ++k) {
      const std::uint32_t i = first + k * kLevelThreads + thread_number();
      number[k] = i < tile.size ? from[tile.begin + i] : 0;
      sides[k] = i < tile.size ? side(tile.begin + i, number[k]) : 2;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kMovedRows; ++k) {
      const std::uint32_t votes[2] = {ballot(sides[k] == 0), ballot(sides[k] == 1)};
      place[k] = sides[k] == 0 ? counts[0] + lanes_before(votes[0]) : counts[1] + lanes_before(votes[1]);
      counts[0] += count_bits(votes[0]);
      counts[1] += count_bits(votes[1]);
    }
    if (lane_number() == 0) shared.places[0][warp_number()] = counts[0];
    if (lane_number() == 0) shared.places[1][warp_number()] = counts[1];
    sync_block();
    if (thread_number() < 2) {
      std::uint32_t* const places = shared.places[thread_number()];
      std::uint32_t sum = 0;
      for (std::uint32_t warp = 0; warp < kLevelWarps; ++warp) sum += places[warp];
      std::uint32_t next = sum == 0 ? 0 : atomic_add(&cursors[thread_number()], sum);
      for (std::uint32_t warp = 0; warp < kLevelWarps; ++warp) {
        const std::uint32_t own = places[warp];
        places[warp] = next;
        next += own;
      }
    }
    sync_block();
#pragma unroll
    for (std::uint32_t k = 0; k < kMovedRows; ++k) {
      if (sides[k] < 2) put(sides[k], shared.places[sides[k]][warp_number()] + place[k], number[k]);
    }
    sync_block();
  }
}

/// Lists the candidates that remain after this round.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) list_candidates(LevelTask<T> task) {
  const std::uint32_t node = node_of_block(task), dims = task.shape.dims;
  const NodeSearch<T> search = task.searches[node];
  if (search.round != task.round) return;
  const bool has_keys = task.round == 0 && search.stage == 0;
  std::uint32_t* const list = task.lists[task.round % 2] + search.begin;
  move_tile(
      RangeTile(task, search.begin, search.counted), task.round == 0 ? task.numbers : task.lists[(task.round - 1) % 2],
      task.cursors + node * kLevelCursors + kListedCursor,
      [&](std::uint32_t i, std::uint32_t number) {
        const OrderedKey<T> key =
            has_keys ? task.keys[i] : component_key(task.source, dims, number, search.dim, search.stage);
        return key >= search.low && (key - search.low) >> search.bits == 0 ? 0u : 2u;
      },
      [&](std::uint32_t, std::uint32_t place, std::uint32_t number) { list[place] = number; });
}

/// A block per node: the first point of its right half, which splits it.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) find_pivots(LevelTask<T> task) {
  CrewCells<T>& cells = *reinterpret_cast<CrewCells<T>*>(shared_memory());
  std::uint32_t* const counters = reinterpret_cast<std::uint32_t*>(&cells + 1);
  const std::uint32_t node = block_number();
  const Crew<true> crew;
  const NodeSearch<T> search = task.searches[node];
  std::uint32_t* const list = task.lists[search.round % 2] + search.begin;
  const std::uint32_t pivot =
      find_pivot<true, T>(task, crew, cells, counters, search, task.box(task.level, node), list, nullptr, list);
  write_split(task, crew, task.level, node, search.dim, task.source.at(pivot, search.dim) + T(0));
  if (crew.rank == 0) task.searches[node].pivot = pivot;
}

/// Moves the points of each node to its halves. From `numbers` to `other_numbers` if keys are at hand, else back.
template <typename T>
__global__ void __launch_bounds__(kLevelThreads) move_points_of_nodes(LevelTask<T> task) {
  const std::uint32_t node = node_of_block(task), dims = task.shape.dims;
  const NodeSearch<T> search = task.searches[node];
  const bool has_keys = task.keys != nullptr;
  if (!has_keys && search.range_count == 1) return;
  const OrderedKey<T> pivot_key = ordered_key(task.source.at(search.pivot, search.dim));
  std::uint32_t* const to = (has_keys ? task.other_numbers : task.numbers) + search.begin;
  move_tile(
      RangeTile(task, search.begin, search.range_count), has_keys ? task.numbers : task.other_numbers,
      task.cursors + node * kLevelCursors,
      [&](std::uint32_t i, std::uint32_t number) {
        const OrderedKey<T> key = has_keys ? task.keys[i] : component_key(task.source, dims, number, search.dim, 0);
        return is_left_of(task, search.dim, number, key, search.pivot, pivot_key) ? 0u : 1u;
      },
      [&](std::uint32_t side, std::uint32_t place, std::uint32_t number) {
        to[place + side * search.range_rank] = number;
      });
}

}  // namespace kith::cuda
