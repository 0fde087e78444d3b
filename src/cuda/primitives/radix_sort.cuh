// Sorts numbers by their keys, a byte of the keys at a time, keeping the order of equal ones. Four kernels per byte.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/primitives/sums_before.cuh"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::cuda::cover {

inline constexpr std::uint32_t kSortThreads = 256;  ///< one for each digit
inline constexpr std::uint32_t kSortWarps = kSortThreads / kWarp;
inline constexpr std::uint32_t kSortRounds = 8;  ///< per warp
inline constexpr std::uint32_t kSortTile = kSortThreads * kSortRounds;
inline constexpr std::uint32_t kDigits = 256;

inline std::uint32_t sort_tiles_of(std::uint32_t count) {
  return static_cast<std::uint32_t>((std::uint64_t{count} + kSortTile - 1) / kSortTile);
}

/// Keys and what they belong to.
struct SortPairs {
  std::uint64_t* keys = nullptr;
  std::uint32_t* values = nullptr;
};

__device__ inline std::uint32_t digit_of(std::uint64_t key, std::uint32_t shift) {
  return static_cast<std::uint32_t>(key >> shift) % kDigits;
}

/// Item `round` of this lane in the part of the tile that is its warp's. A warp's items lie side by side.
__device__ inline std::uint64_t sort_item(std::uint32_t round) {
  return std::uint64_t{block_number()} * kSortTile + warp_number() * (kSortRounds * kWarp) + round * kWarp +
         lane_number();
}

/// How often each digit is in each tile: counts[digit * tiles + tile]. A block per tile.
static __global__ void __launch_bounds__(kSortThreads)
    count_digits(const std::uint64_t* keys, std::uint32_t count, std::uint32_t shift, std::uint32_t* counts) {
  std::uint32_t* own = reinterpret_cast<std::uint32_t*>(shared_memory());
  own[thread_number()] = 0;
  sync_block();
  for (std::uint32_t round = 0; round < kSortRounds; ++round) {
    const std::uint64_t at = sort_item(round);
    if (at < count) atomic_add(own + digit_of(keys[at], shift), 1u);
  }
  sync_block();
  counts[std::uint64_t{thread_number()} * blocks_in_grid() + block_number()] = own[thread_number()];
}

/// Puts the pairs where they belong; `starts` is where each digit of each tile begins. A block per tile.
static __global__ void __launch_bounds__(kSortThreads)
    scatter_digits(SortPairs from, std::uint32_t count, std::uint32_t shift, const std::uint32_t* starts,
                   SortPairs to) {
  std::uint32_t* own = reinterpret_cast<std::uint32_t*>(shared_memory()) + warp_number() * kDigits;
  const std::uint32_t lanes_before = (1u << lane_number()) - 1;
  for (std::uint32_t digit = lane_number(); digit < kDigits; digit += kWarp) own[digit] = 0;
  sync_warp();
  for (std::uint32_t round = 0; round < kSortRounds; ++round) {
    const std::uint64_t at = sort_item(round);
    if (at < count) atomic_add(own + digit_of(from.keys[at], shift), 1u);
  }
  sync_block();
  std::uint32_t before = starts[std::uint64_t{thread_number()} * blocks_in_grid() + block_number()];
  for (std::uint32_t warp = 0; warp < kSortWarps; ++warp) {
    std::uint32_t& start = reinterpret_cast<std::uint32_t*>(shared_memory())[warp * kDigits + thread_number()];
    const std::uint32_t in_warp = start;
    start = before;
    before += in_warp;
  }
  sync_block();
  for (std::uint32_t round = 0; round < kSortRounds; ++round) {
    const std::uint64_t at = sort_item(round);
    const bool is_there = at < count;
    const std::uint64_t key = is_there ? from.keys[at] : 0;
    const std::uint32_t digit = is_there ? digit_of(key, shift) : kDigits;
    const std::uint32_t alike = match_lanes(digit);
    const std::uint32_t start = is_there ? own[digit] : 0;
    sync_warp();  // all have read
    if (is_there) {
      const std::uint32_t place = start + count_bits(alike & lanes_before);
      to.keys[place] = key;
      to.values[place] = from.values[at];
      if ((alike & lanes_before) == 0) own[digit] = start + count_bits(alike);
    }
    sync_warp();
  }
}

/// The pieces of memory that a sort needs beside the pairs.
struct SortStorage {
  std::uint32_t* counts = nullptr;  ///< digit_counts_of(count)
  std::uint32_t* sums = nullptr;    ///< sum_tiles_of(digit_counts_of(count)) + 1
};
inline std::uint64_t digit_counts_of(std::uint32_t count) { return std::uint64_t{sort_tiles_of(count)} * kDigits; }

/// Sorts `count` pairs by bits first_bit .. end_bit of their keys, the others being equal. Returns where they are, in
/// `pairs` or in `other`.
template <typename Launch>
SortPairs sort_pairs(SortPairs pairs, SortPairs other, std::uint32_t count, std::uint32_t first_bit,
                     std::uint32_t end_bit, const SortStorage& storage, Launch&& launch) {
  const std::uint32_t tiles = sort_tiles_of(count);
  if (count < 2) return pairs;
  for (std::uint32_t shift = first_bit; shift < end_bit; shift += 8) {
    launch(count_digits, tiles, kSortThreads, kDigits * sizeof(std::uint32_t),
           static_cast<const std::uint64_t*>(pairs.keys), count, shift, storage.counts);
    launch_sums_before(static_cast<const std::uint32_t*>(storage.counts), digit_counts_of(count), storage.sums,
                       storage.counts, false, launch);
    launch(scatter_digits, tiles, kSortThreads, kSortWarps * kDigits * sizeof(std::uint32_t), pairs, count, shift,
           static_cast<const std::uint32_t*>(storage.counts), other);
    std::swap(pairs, other);
  }
  return pairs;
}

}  // namespace kith::cuda::cover
