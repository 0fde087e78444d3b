// The points that a thread looks after while a level is split: those at the places begin + rank + k * threads of the
// node that it owns with others, k < kRows.
#pragma once

#include "cuda/kd_tree/finish_box.cuh"

namespace kith::cuda {

/// The slots of the points that a thread looks after.
template <std::uint32_t kRows>
struct OwnSlots {
  std::uint32_t at[kRows];
  std::uint32_t count;  ///< the first ones are its points, the others are any slots: so loads need no condition
};

/// How many of the places rank, rank + 2^bits, … are below `count`.
__device__ __forceinline__ std::uint32_t rows_below(std::uint32_t count, std::uint32_t rank, std::uint32_t bits) {
  return count > rank ? ((count - rank - 1) >> bits) + 1 : 0;
}

template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ OwnSlots<kRows> load_slots(const Subtree<T, kStaged>& subtree, const FinishNode& node,
                                                      std::uint32_t rank, std::uint32_t bits) {
  OwnSlots<kRows> slots;
  slots.count = rows_below(node.end - node.begin, rank, bits);
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    slots.at[k] = subtree.order[node.begin + rank + (k << bits)];
  }
  return slots;
}

/// The range of coordinate d of a thread's points.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ KeyRange<T> range_of_slots(const Subtree<T, kStaged>& subtree, const OwnSlots<kRows>& slots,
                                                      std::uint32_t d) {
  KeyRange<T> range;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const OrderedKey<T> key = ordered_key(subtree.value(slots.at[k], d));
    if (k < slots.count) range.add(key);
  }
  return range;
}

}  // namespace kith::cuda
