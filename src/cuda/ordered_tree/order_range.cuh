// The part of a range that a block takes, and how the last of its blocks knows that the others are done.
#pragma once

#include "cuda/ordered_tree/order_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// Blocks are numbered range by range.
struct BlockRange {
  std::uint32_t range, first, last, middle;
  std::uint32_t begin, end;  ///< the places of this block

  template <typename T>
  __device__ explicit BlockRange(const OrderLevel<T>& level)
      : range(block_number() / level.parts),
        first(level.first[range]),
        last(level.first[range + 1] - 1),
        middle(middle_of(first, last, level.takes_left)) {
    const std::uint64_t start = first + std::uint64_t{block_number() % level.parts} * level.tile;
    begin = start < last ? static_cast<std::uint32_t>(start) : last;
    end = last - begin < level.tile ? last : begin + level.tile;
  }
  __device__ std::uint32_t size() const { return last - first; }
};

/// True in every thread of the last block of a range to come here: what the others wrote is visible to it, past the
/// caches (load_fresh). `is_last` is shared.
template <typename T>
__device__ bool is_last_block(const OrderLevel<T>& level, std::uint32_t range, std::uint32_t* is_last) {
  fence_device();
  sync_block();
  if (thread_number() == 0) {
    *is_last = atomic_add(&level.tickets[range], 1u) == level.parts - 1 ? 1 : 0;
    if (*is_last != 0) level.tickets[range] = 0;
  }
  sync_block();
  if (*is_last != 0) fence_device();
  return *is_last != 0;
}

/// Component `stage` of the super-key of dimension d.
template <typename T>
__device__ OrderedKey<T> moved_key(const MovedPoints<T>& points, std::uint32_t dims, std::uint32_t p, std::uint32_t d,
                                   std::uint32_t stage) {
  if (stage == dims) return points.numbers[p];
  return ordered_key(points.at(p, d + stage < dims ? d + stage : d + stage - dims));
}

/// Whether point a comes before point b by the super-key of dimension d, from component `stage` on.
template <typename T>
__device__ bool moved_precedes(const MovedPoints<T>& points, std::uint32_t dims, std::uint32_t a, std::uint32_t b,
                               std::uint32_t d, std::uint32_t stage) {
  for (; stage < dims; ++stage) {
    const std::uint32_t axis = d + stage < dims ? d + stage : d + stage - dims;
    const T x = points.at(a, axis), y = points.at(b, axis);
    if (x != y) return x < y;
  }
  return points.numbers[a] < points.numbers[b];
}

}  // namespace kith::cuda
