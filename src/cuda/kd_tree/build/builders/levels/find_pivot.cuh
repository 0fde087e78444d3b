// Radix select among the candidates of a node, digit by digit and component by component of the super-key.
#pragma once

#include "cuda/kd_tree/build/builders/levels/crew.cuh"

namespace kith::cuda {

template <typename T>
__device__ __forceinline__ void set_range(NodeSearch<T>& search, OrderedKey<T> low, OrderedKey<T> high) {
  search.low = low;
  search.bits = 8 * sizeof(low) - leading_zeros(high - low);
}

/// Of all points of a node: keys lie between the ends of its box.
template <typename T>
__device__ __forceinline__ NodeSearch<T> begin_search(const LevelTask<T>& task, std::uint32_t level, std::uint64_t j,
                                                      std::uint32_t dim) {
  const core::KdGeometry& geometry = task.shape.geometry;
  const T* box = task.box(level, j);
  NodeSearch<T> search;
  search.dim = dim;
  search.begin = static_cast<std::uint32_t>(geometry.first(level, j));
  search.count = search.range_count = static_cast<std::uint32_t>(geometry.first(level, j + 1)) - search.begin;
  search.rank = search.range_rank = static_cast<std::uint32_t>(geometry.first(level + 1, 2 * j + 1)) - search.begin;
  set_range(search, ordered_key(box[dim]), ordered_key(box[task.shape.dims + dim]));
  return search;
}

/// The points share the component: goes on with the next one in which they may differ. `box` is the node's.
template <typename T>
__device__ __forceinline__ void skip_equal_components(NodeSearch<T>& search, const TreeShape& shape, const T* box) {
  const std::uint32_t dims = shape.dims;
  while (search.bits == 0) {
    if (++search.stage < dims) {
      const std::uint32_t axis =
          search.dim + search.stage < dims ? search.dim + search.stage : search.dim + search.stage - dims;
      set_range(search, ordered_key(box[axis]), ordered_key(box[dims + axis]));
    } else {
      set_range(search, OrderedKey<T>{1}, static_cast<OrderedKey<T>>(shape.geometry.points));  // see component_key
    }
  }
}

template <typename T>
__device__ __forceinline__ std::uint32_t shift_of(const NodeSearch<T>& search, std::uint32_t digit_bits) {
  return search.bits > digit_bits ? search.bits - digit_bits : 0;
}
/// The digit of a candidate.
template <typename T>
__device__ __forceinline__ std::uint32_t digit_of(const NodeSearch<T>& search, std::uint32_t shift, OrderedKey<T> key) {
  return static_cast<std::uint32_t>((key - search.low) >> shift);
}
/// Only the candidates of one digit remain.
template <typename T>
__device__ __forceinline__ void narrow(NodeSearch<T>& search, std::uint32_t shift, const FoundDigit& found) {
  search.low += static_cast<OrderedKey<T>>(found.digit) << shift;
  search.bits = shift;
  search.rank -= found.below;
  search.count = found.inside;
}

/// Of at most 32 candidates, one in each lane: compares all pairs.
template <typename T>
__device__ std::uint32_t select_among_lanes(const LevelTask<T>& task, const NodeSearch<T>& search,
                                            const std::uint32_t* candidates) {
  const std::uint32_t dims = task.shape.dims;
  const bool is_used = lane_number() < search.count;
  const std::uint32_t number = candidates[is_used ? lane_number() : 0];
  const OrderedKey<T> key = component_key(task.source, dims, number, search.dim, search.stage);
  std::uint32_t before = 0;
  for (std::uint32_t lane = 0; lane < search.count; ++lane) {
    const OrderedKey<T> other = shuffle(key, lane);
    const std::uint32_t other_number = shuffle(number, lane);
    bool is_before = other < key;
    if (other == key && other_number != number) {
      is_before = precedes(task.source, dims, other_number, number, search.dim, search.stage + 1);
    }
    before += is_before ? 1 : 0;
  }
  return shuffle(number, lowest_bit(ballot(is_used && before == search.rank)));
}

/// The point that a search looks for. Its candidates are `from`; `list` may be the same and gets those that remain.
/// `keys`: theirs in the first component; null: not at hand. Counters: 1 << kWarpDigitBits, of a block 1 <<
/// kBlockDigitBits. The crew has synchronised before, and has afterwards.
template <bool kIsBlock, typename T>
__device__ std::uint32_t find_pivot(const LevelTask<T>& task, const Crew<kIsBlock>& crew, CrewCells<T>& cells,
                                    std::uint32_t* counters, NodeSearch<T> search, const T* box,
                                    const std::uint32_t* from, const OrderedKey<T>* keys, std::uint32_t* list) {
  constexpr std::uint32_t kMostBits = kIsBlock ? kBlockDigitBits : kWarpDigitBits;
  const std::uint32_t dims = task.shape.dims;
  while (search.count > kWarp) {
    skip_equal_components(search, task.shape, box);
    const std::uint32_t width = 31 - leading_zeros(search.count);
    const std::uint32_t bits = width < kMostBits ? width : kMostBits, shift = shift_of(search, bits);
    const OrderedKey<T>* own_keys = search.stage == 0 ? keys : nullptr;
    const auto digit = [&](std::uint32_t i, std::uint32_t number) {
      return digit_of(
          search, shift,
          own_keys != nullptr ? own_keys[i] : component_key(task.source, dims, number, search.dim, search.stage));
    };
    for (std::uint32_t i = crew.rank; i < 1u << bits; i += crew.threads) counters[i] = 0;
    crew.sync();
    for (std::uint32_t i = crew.rank; i < search.count; i += crew.threads) atomic_add(&counters[digit(i, from[i])], 1u);
    crew.sync();
    if (crew.is_first_warp()) {
      const FoundDigit found = find_digit(counters, 1u << bits, search.rank);
      if (lane_number() == 0) {
        cells.digit = found.digit;
        cells.below = found.below;
        cells.inside = found.inside;
        cells.listed = 0;
      }
    }
    crew.sync();
    const FoundDigit found{cells.digit, cells.below, cells.inside};
    if (found.inside < search.count) {
      for (std::uint32_t first = 0; first < search.count; first += crew.threads) {
        const std::uint32_t i = first + crew.rank, number = i < search.count ? from[i] : 0;
        const bool remains = i < search.count && digit(i, number) == found.digit;
        crew.sync();  // those of this row are read: the list may lie there
        const std::uint32_t votes = ballot(remains);
        const std::uint32_t base = lane_number() == 0 ? atomic_add(&cells.listed, count_bits(votes)) : 0;
        const std::uint32_t place = shuffle(base, 0) + lanes_before(votes);
        if (remains) list[place] = number;
      }
      from = list;
      keys = nullptr;
    }
    narrow(search, shift, found);
    crew.sync();
  }
  if (crew.is_first_warp()) {
    const std::uint32_t pivot = select_among_lanes(task, search, from);
    if (lane_number() == 0) cells.pivot = pivot;
  }
  crew.sync();
  const std::uint32_t pivot = cells.pivot;
  crew.sync();
  return pivot;
}

/// Whether a point of a known first component goes to the left of a pivot.
template <typename T>
__device__ __forceinline__ bool is_left_of(const LevelTask<T>& task, std::uint32_t dim, std::uint32_t number,
                                           OrderedKey<T> key, std::uint32_t pivot, OrderedKey<T> pivot_key) {
  return key != pivot_key ? key < pivot_key : precedes(task.source, task.shape.dims, number, pivot, dim, 1);
}

}  // namespace kith::cuda
