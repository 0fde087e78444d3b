// The points that a thread looks after while a level is split: those at the places begin + rank + k * threads of the
// node that it owns with others, k < kRows.
#pragma once

#include "cuda/kd_tree/build/finish/finish_box.cuh"

namespace kith::cuda {

/// The slots of the points that a thread looks after.
template <std::uint32_t kRows>
struct OwnSlots {
  std::uint32_t at[kRows];
  std::uint32_t count;  ///< the first ones are its points, the others slot 0: loads of coordinates need no condition
};

/// How many of the places rank, rank + 2^bits, … are below `count`.
__device__ __forceinline__ std::uint32_t rows_below(std::uint32_t count, std::uint32_t rank, std::uint32_t bits) {
  return count > rank ? ((count - rank - 1) >> bits) + 1 : 0;
}

/// Lanes of several nodes, which lie at distances of many banks, load their first eight slots in different orders, so
/// that they do not read the same row of each node at a time. So many rows of a thread are concerned:
template <std::uint32_t kRows>
inline constexpr std::uint32_t kSpreadRows = is_sure<kRows>(7) ? 8 : 0;

/// The row of slot k of this thread, then. From one to the next it differs in one bit.
template <std::uint32_t kRows>
__device__ __forceinline__ std::uint32_t spread_row(std::uint32_t k) {
  if constexpr (kSpreadRows < kRows >> 0) {
    if (k < kSpreadRows<kRows>) return (k ^ k / 2) ^ lane_number() / 4;
  }
  return k;
}

/// `kSpread`: the lanes belong to several nodes; slot k of a thread is that of row spread_row(k).
template <std::uint32_t kRows, bool kSpread = false, typename T, bool kStaged>
__device__ __forceinline__ OwnSlots<kRows> load_slots(const Subtree<T, kStaged>& subtree, const FinishNode& node,
                                                      std::uint32_t rank, std::uint32_t bits) {
  constexpr std::uint32_t kFirst = kSpread ? kSpreadRows<kRows> : 0;
  OwnSlots<kRows> slots;
  slots.count = rows_below(node.end - node.begin, rank, bits);
  if constexpr (kFirst > 0) {
    const std::uint32_t threads = threads_per_block() >> node.depth;
    const std::uint32_t row_bytes = threads * static_cast<std::uint32_t>(sizeof(std::uint16_t));
    const std::uint32_t from = shared_address(subtree.order + (node.begin + rank));
    std::uint32_t place = spread_row<kRows>(0) * row_bytes;
#pragma unroll
    for (std::uint32_t k = 0; k < kFirst; ++k) {
      slots.at[k] = *at_shared<const std::uint16_t>(from + place);
      place ^= ((k + 1) & ~k) * row_bytes;
    }
  }
  const std::uint16_t* from = subtree.order + (node.begin + rank + (kFirst << bits));
#pragma unroll
  for (std::uint32_t k = kFirst; k < kRows; ++k, from += 1u << bits) {
    slots.at[k] = is_sure<kRows>(k) || k < slots.count ? *from : 0;
  }
  return slots;
}

/// The same slots; those that are no points of the thread repeat its first, so that extremes need no condition.
template <std::uint32_t kRows>
__device__ __forceinline__ OwnSlots<kRows> only_points(OwnSlots<kRows> slots) {
#pragma unroll
  for (std::uint32_t k = 1; k < kRows; ++k) {
    if (!is_sure<kRows>(k)) slots.at[k] = k < slots.count ? slots.at[k] : slots.at[0];
  }
  return slots;
}

/// The range of coordinate d of a thread's points. The slots are only_points.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ KeyRange<T> range_of_slots(const Subtree<T, kStaged>& subtree, const OwnSlots<kRows>& slots,
                                                      std::uint32_t d) {
  T low = subtree.value(slots.at[0], d), high = low;
#pragma unroll
  for (std::uint32_t k = 1; k < kRows; ++k) {
    const T value = subtree.value(slots.at[k], d);
    low = lesser(low, value);
    high = greater(high, value);
  }
  KeyRange<T> range;
  if (is_sure<kRows>(0) || slots.count > 0) range.add(ordered_key(low), ordered_key(high));
  return range;
}

/// Component `component` of the super-key of dimension `dim`, of each slot. All loads are in flight.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void load_components(const Subtree<T, kStaged>& subtree, const OwnSlots<kRows>& slots,
                                                std::uint32_t dim, std::uint32_t component,
                                                OrderedKey<T> (&key)[kRows]) {
  if (component == subtree.dims) {
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) key[k] = subtree.index_key(slots.at[k]);
  } else {
    const std::uint32_t axis = dim + component, d = axis >= subtree.dims ? axis - subtree.dims : axis;
#pragma unroll
    for (std::uint32_t k = 0; k < kRows; ++k) key[k] = ordered_key(subtree.value(slots.at[k], d));
  }
}

/// The range of those keys of a thread whose bits are set.
template <typename T, std::uint32_t kRows>
__device__ __forceinline__ KeyRange<T> range_of_keys(const OrderedKey<T> (&key)[kRows], std::uint32_t chosen) {
  using Key = OrderedKey<T>;
  constexpr Key kLargest = ~Key{0};
  KeyRange<T> range{kLargest, 0};
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const bool is_chosen = (chosen & (1u << k)) != 0;
    range.add(is_chosen ? key[k] : kLargest, is_chosen ? key[k] : Key{0});
  }
  return range;
}

/// Slot k of a thread: where k is known only at run time.
template <std::uint32_t kRows>
__device__ __forceinline__ std::uint32_t slot_at(const OwnSlots<kRows>& slots, std::uint32_t k) {
  std::uint32_t rest[kRows];
#pragma unroll
  for (std::uint32_t j = 0; j < kRows; ++j) rest[j] = slots.at[j];
#pragma unroll
  for (std::uint32_t step = 1; step < kRows; step *= 2) {  // half of the rest for each bit
    const bool is_odd = (k & step) != 0;
#pragma unroll
    for (std::uint32_t j = 0; j + step < kRows; j += 2 * step) rest[j] = is_odd ? rest[j + step] : rest[j];
  }
  return rest[0];
}

/// Moves slots of a thread: those of `left`, a bit for each, to `left_place` and on, those of `right` to `right_place`
/// and on. `kAll`: together they are all points of the thread.
template <bool kAll, typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ void move_slots(const Subtree<T, kStaged>& subtree, const OwnSlots<kRows>& slots,
                                           std::uint32_t left, std::uint32_t right, std::uint32_t left_place,
                                           std::uint32_t right_place) {
  constexpr std::uint32_t kBytes = sizeof(std::uint16_t);
  std::uint32_t left_to = shared_address(subtree.order + left_place);
  std::uint32_t right_to = shared_address(subtree.order + right_place);
  [[maybe_unused]] std::uint32_t nowhere = 0;
  const std::uint32_t moved = left | right;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t bit = 1u << k;
    const std::uint32_t to = (left & bit) != 0 ? left_to : right_to;  // one store has fewer conflicts than two
    if ((kAll && is_sure<kRows>(k)) || (moved & bit) != 0) {
      *at_shared<std::uint16_t>(to) = static_cast<std::uint16_t>(slots.at[k]);
    }
    if constexpr (kAll) {
      add_to_one(left, bit, left_to, right_to, kBytes);
    } else {
      add_to_one(left, bit, left_to, nowhere, kBytes);
      add_to_one(right, bit, right_to, nowhere, kBytes);
    }
  }
}

}  // namespace kith::cuda
