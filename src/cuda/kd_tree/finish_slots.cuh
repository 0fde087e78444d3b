// The points that a thread looks after while a level is split: those at the places begin + rank + k * threads of the
// node that it owns with others, k < kRows.
#pragma once

#include "cuda/kd_tree/finish_box.cuh"

namespace kith::cuda {

/// The slots of the points that a thread looks after.
template <std::uint32_t kRows>
struct OwnSlots {
  std::uint32_t at[kRows];
  std::uint32_t count;  ///< the first ones exist
};

template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ OwnSlots<kRows> load_slots(const Subtree<T, kStaged>& subtree, const FinishNode& node,
                                                      std::uint32_t rank, std::uint32_t threads) {
  OwnSlots<kRows> slots;
  slots.count = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t place = node.begin + rank + k * threads;
    const bool exists = place < node.end;
    slots.at[k] = exists ? subtree.order[place] : 0;
    slots.count += exists ? 1 : 0;
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
    if (k < slots.count) range.add(ordered_key(subtree.value(slots.at[k], d)));
  }
  return range;
}

}  // namespace kith::cuda
