// Where coordinates lie among the values of their dimension that are in the range of a segment: found by a look at the
// part of the range in which they lie, and at the value that comes next, unless values are many or at uneven distances.
#pragma once

#include "cuda/kd_tree/build/passes/root_shared.cuh"
#include "cuda/kd_tree/build/ties/tied_cells.cuh"

#include "core/arithmetic.hpp"

#include <bit>

namespace kith::cuda {

/// The part of x, monotone in it whatever overflows or is no number on the way. Added to a number this large it is
/// rounded to an integer.
template <typename T>
__device__ __forceinline__ std::uint32_t part_of(const ValueParts<T>& parts, T x) {
  constexpr T kLarge = sizeof(T) == 4 ? T(1u << 23) : T(std::uint64_t{1} << 52);
  const T sum = core::fused_multiply_add(saturated((x - parts.low) * parts.scale), parts.last, kLarge);
  return static_cast<std::uint32_t>(std::bit_cast<OrderedKey<T>>(sum)) % kTableValues;
}

/// Which values of the tables lie in the range of the segment, and their parts. False if no dimension has two of them.
/// Synchronises the block.
template <typename T>
__device__ __forceinline__ bool find_values_in_range(std::uint32_t dims, const T* range, TieShared<T>& shared) {
  using Key = OrderedKey<T>;
  static_assert(kTabledDims <= kPassThreads / kWarp);
  bool has_two = false;
  if (warp_number() < dims) {
    const std::uint32_t d = warp_number(), all = shared.few[d];
    const T* table = shared.tables + d * kTableValues;
    const T low = range[d], high = range[dims + 1 + d];
    std::uint32_t first = 0, end = 0;
#pragma unroll 1
    for (std::uint32_t base = 0; base < all; base += kWarp) {
      const bool is_value = base + lane_number() < all;
      const T value = is_value ? table[base + lane_number()] : T(0);
      first += count_bits(ballot(is_value && value < low));
      end += count_bits(ballot(is_value && value <= high));
    }
    const std::uint32_t count = end > first ? end - first : 0;
    has_two = count > 1;
    ValueParts<T> parts{count > 0 ? table[first] : T(0), T(0), T(0)};
    if (has_two) {
      Key gap = static_cast<Key>(~Key{0});
#pragma unroll 1
      for (std::uint32_t i = first + lane_number(); i + 1 < end; i += kWarp) {
        const Key own = ordered_key(table[i + 1] - table[i]);
        gap = own < gap ? own : gap;
      }
      sync_warp();
      const T width = table[end - 1] - parts.low, steps = width / value_of_key<T>(min_of_warp(gap)) + T(0.5);
      constexpr T kLastPart = T(kTableValues - 1);
      parts.scale = T(1) / width;
      parts.last = steps < kLastPart ? static_cast<T>(to_unsigned(steps)) : kLastPart;
    }
    if (lane_number() == 0) {
      shared.ties.first[d] = static_cast<std::uint16_t>(first);
      shared.ties.count[d] = static_cast<std::uint16_t>(count);
      shared.parts[d] = parts;
    }
  }
  return any_thread(has_two);
}

/// Notes for each part how many values lie before. The block has synchronised since it knows its values, and must again
/// afterwards.
template <typename T>
__device__ __forceinline__ void note_values_below(const TieMap<T>& map, TieShared<T>& shared) {
#pragma unroll 1
  for (std::uint32_t i = thread_number(); i < map.dims * kTableValues; i += kPassThreads) {
    const std::uint32_t d = i / kTableValues, own = i % kTableValues, count = map.ties->count[d];
    if (own >= count) continue;
    const ValueParts<T> parts = shared.parts[d];
    const T* values = map.values(d);
    const std::uint32_t first = own == 0 ? 0 : part_of(parts, values[own - 1]) + 1;
    const std::uint32_t last = own + 1 == count ? to_unsigned(parts.last) : part_of(parts, values[own]);
    for (std::uint32_t part = first; part <= last; ++part) shared.below[d][part] = static_cast<std::uint8_t>(own);
  }
}

/// How many values of its dimension are less than each x. Returns a bit for each x that is none of them itself; where
/// there are no values, none is asked for. All are looked for side by side.
template <std::uint32_t kEach, typename T>
__device__ __forceinline__ std::uint32_t find_values(const TieMap<T>& map, const TieShared<T>& shared, std::uint32_t d,
                                                     const T (&x)[kEach], std::uint32_t (&below)[kEach]) {
  const std::uint32_t count = map.ties->count[d];
  const ValueParts<T> parts = shared.parts[d];
  const T* values = map.values(d);
  std::uint32_t unknown = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) below[k] = 0;
  if (count == 0) return 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) below[k] = shared.below[d][part_of(parts, x[k])];
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) unknown |= values[below[k]] == x[k] ? 0 : 1u << k;
  if (unknown == 0) return 0;
  bool goes_on = true;
#pragma unroll 1
  while (goes_on) {
    goes_on = false;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const bool is_less = below[k] < count && values[below[k]] < x[k];
      below[k] += is_less ? 1 : 0;
      goes_on = goes_on || is_less;
    }
  }
  unknown = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kEach; ++k) unknown |= below[k] < count && values[below[k]] == x[k] ? 0 : 1u << k;
  return unknown;
}

/// As slot_of does, in fewer steps.
template <typename T>
__device__ __forceinline__ std::uint32_t slot_nearby(const TieMap<T>& map, const TieShared<T>& shared, std::uint32_t d,
                                                     T x) {
  const T one[1] = {x};
  std::uint32_t below[1];
  const std::uint32_t unknown = find_values(map, shared, d, one, below);
  return 2 * below[0] + (unknown == 0 ? 1 : 0);
}

}  // namespace kith::cuda
