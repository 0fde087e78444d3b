// Puts the slots of the leaves of a subtree into the order of their indices.
#pragma once

#include "cuda/kd_tree/build/finish/finish_slots.cuh"
#include "cuda/kd_tree/build/finish/finish_sort.cuh"

namespace kith::cuda {

/// Stands for "no point" where an index is expected.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;

/// The threads that own a leaf where there are at least as many threads as leaves.
struct LeafTeam {
  std::uint32_t bits = 0;  ///< the logarithm of the threads
  std::uint32_t threads = 0;
  std::uint32_t rank = 0;
  std::uint32_t leaf = 0;

  __device__ __forceinline__ explicit LeafTeam(std::uint32_t levels)
      : bits(thread_bits_at(levels)),
        threads(1u << bits),
        rank(thread_number() & (threads - 1)),
        leaf(thread_number() >> bits) {}
};

/// The bits of a sorted key that say where in a leaf a point lies; the others are its index.
inline constexpr std::uint32_t kPlaceBits = 5;

/// Whether order_in_registers is for the leaves of this subtree.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ bool fits_in_registers(const Subtree<T, kStaged>& subtree) {
  return 1u << subtree.levels <= threads_per_block() && subtree.count > 0 &&
         kRows << thread_bits_at(subtree.levels) <= 1u << kPlaceBits &&
         subtree.given.shape.geometry.points >> (32 - kPlaceBits) == 0;
}

/// Sorts a leaf; returns its smallest index. The slots are only_points of the leaf's team, spread. All lanes of the
/// warp.
template <typename T, bool kStaged, std::uint32_t kRows>
__device__ __forceinline__ std::uint32_t order_in_registers(const Subtree<T, kStaged>& subtree, const FinishNode& leaf,
                                                            const LeafTeam& team, const OwnSlots<kRows>& slots) {
  std::uint32_t key[kRows];
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    key[k] = subtree.indices[slots.at[k]] << kPlaceBits | (team.rank + (spread_row<kRows>(k) << team.bits));
    if (!is_sure<kRows>(k)) key[k] = k < slots.count ? key[k] : kNoIndex;
  }
  sort_own(key);
  if (team.bits > 0) merge_lanes<2>(key);
  if constexpr (4 * kRows <= 1u << kPlaceBits) {
    if (team.bits > 1) merge_lanes<4>(key);
  }
  const std::uint32_t count = leaf.end - leaf.begin, first = team.rank * kRows;
  std::uint16_t* places = subtree.order + leaf.begin;
  std::uint16_t slot[kRows];
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    slot[k] = first + k < count ? places[key[k] & ((1u << kPlaceBits) - 1)] : std::uint16_t{0};
  }
  sync_warp();
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    if (first + k < count) places[first + k] = slot[k];
  }
  return count > 0 ? key[0] >> kPlaceBits : kNoIndex;
}

/// Sorts the slots of each leaf by index, all leaves at a time. `width`: a power of two, not less than any leaf. In a
/// network that always moves the lesser key to the front, what lies behind the end of a leaf would stay there.
template <typename T, bool kStaged>
__device__ __forceinline__ void sort_leaves(const Subtree<T, kStaged>& subtree, std::uint32_t width) {
  const std::uint32_t pairs = (width / 2) << subtree.levels;
  const auto pass = [&](std::uint32_t step, std::uint32_t flip) {
    for (std::uint32_t i = thread_number(); i < pairs; i += threads_per_block()) {
      const std::uint32_t leaf = i / (width / 2), pair = i % (width / 2);
      const std::uint32_t first = 2 * pair - (pair & (step - 1)), second = first ^ flip;
      const std::uint32_t begin = subtree.first_place(subtree.levels, leaf);
      if (begin + second >= subtree.first_place(subtree.levels, leaf + 1)) continue;
      const std::uint16_t a = subtree.order[begin + first], b = subtree.order[begin + second];
      if (subtree.indices[a] > subtree.indices[b]) {
        subtree.order[begin + first] = b;
        subtree.order[begin + second] = a;
      }
    }
    sync_block();
  };
  for (std::uint32_t size = 2; size <= width; size *= 2) {
    pass(size / 2, size - 1);
    for (std::uint32_t step = size / 4; step > 0; step /= 2) pass(step, step);
  }
}

}  // namespace kith::cuda
