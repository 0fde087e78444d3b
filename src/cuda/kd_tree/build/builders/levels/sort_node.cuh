// The nodes of `segsort`: coordinates in few bits between the ends of the node's box, sorted by a warp or a block; and
// the points that share those of the middle one.
#pragma once

#include "cuda/kd_tree/build/builders/levels/find_pivot.cuh"
#include "cuda/primitives/sort_across_lanes.cuh"

namespace kith::cuda {

/// What remains open in a sorted node: the points with the number of the middle one. `number_at(place)`.
template <typename T, typename NumberAt>
__device__ __forceinline__ void search_among_equal(NodeSearch<T>& search, std::uint32_t shift, NumberAt&& number_at) {
  const std::uint32_t begin = search.begin, middle = begin + search.rank, end = begin + search.count;
  const std::uint32_t number = number_at(middle);
  const auto first_place = [&](std::uint32_t low, std::uint32_t high, auto&& is_before) {
    while (low < high) {
      const std::uint32_t half = low + (high - low) / 2;
      const bool before = is_before(number_at(half));
      low = before ? half + 1 : low;
      high = before ? high : half;
    }
    return low;
  };
  search.begin = first_place(begin, middle, [&](std::uint32_t other) { return other < number; });
  search.range_count = first_place(middle, end, [&](std::uint32_t other) { return other == number; }) - search.begin;
  search.range_rank = middle - search.begin;
  narrow(search, shift, {number, search.begin - begin, search.range_count});
}

/// Up to 32 * kRows points of a node, by a warp: the order becomes that of (key, place).
template <std::uint32_t kRows, typename KeyAt>
__device__ __forceinline__ void sort_by_warp(std::uint32_t count, std::uint32_t* numbers, std::uint16_t* keys,
                                             KeyAt&& key_at) {
  constexpr std::uint32_t kPlaceBits = 8;
  static_assert(kRows * kWarp <= 1u << kPlaceBits && kSortedBits + kPlaceBits < 32);
  std::uint32_t sorted[kRows], number[kRows];
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t i = k * kWarp + lane_number();
    sorted[k] = i < count ? key_at(numbers[i]) << kPlaceBits | i : ~0u;
  }
  sort_across_lanes(sorted);
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    number[k] = lane_number() * kRows + k < count ? numbers[sorted[k] & ((1u << kPlaceBits) - 1)] : 0;
  }
  sync_warp();
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t i = lane_number() * kRows + k;
    if (i < count) {
      numbers[i] = number[k];
      keys[i] = static_cast<std::uint16_t>(sorted[k] >> kPlaceBits);
    }
  }
  sync_warp();
}

/// One pass of a radix sort by a block, stable. Each warp has a run of rows, counts its digits by itself and knows
/// where its points come among those of the same digit. `counters`: kLevelWarps << kWarpDigitBits.
__device__ __forceinline__ void sort_by_digit(std::uint32_t count, std::uint32_t shift, std::uint32_t* counters,
                                              const std::uint32_t* numbers, const std::uint16_t* keys,
                                              std::uint32_t* to_numbers, std::uint16_t* to_keys) {
  constexpr std::uint32_t kDigits = 1u << kWarpDigitBits, kRows = kSubtreePoints / kLevelThreads;
  static_assert(kDigits == kLevelThreads, "a thread adds up the counts of a digit");
  std::uint32_t* const own = counters + warp_number() * kDigits;
  const std::uint32_t begin = warp_number() * kRows * kWarp;
  for (std::uint32_t i = thread_number(); i < kLevelWarps * kDigits; i += kLevelThreads) counters[i] = 0;
  sync_block();
  std::uint32_t rank[kRows];
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t i = begin + k * kWarp + lane_number();
    const std::uint32_t digit = i < count ? keys[i] >> shift & (kDigits - 1) : kDigits + lane_number();
    const std::uint32_t same = match_lanes(digit), before = lanes_before(same);
    const std::uint32_t counted = i < count ? own[digit] : 0;
    rank[k] = counted + before;
    sync_warp();
    if (i < count && before == 0) own[digit] = counted + count_bits(same);
    sync_warp();
  }
  sync_block();
  std::uint32_t sum = 0;
#pragma unroll
  for (std::uint32_t warp = 0; warp < kLevelWarps; ++warp) sum += counters[warp * kDigits + thread_number()];
  const std::uint32_t through = sum_to_lane(sum);
  // The sums of warps lie behind the counters.
  if (lane_number() == kWarp - 1) counters[kLevelWarps * kDigits + warp_number()] = through;
  sync_block();
  std::uint32_t next = through - sum;
  for (std::uint32_t warp = 0; warp < warp_number(); ++warp) next += counters[kLevelWarps * kDigits + warp];
#pragma unroll
  for (std::uint32_t warp = 0; warp < kLevelWarps; ++warp) {
    const std::uint32_t own_count = counters[warp * kDigits + thread_number()];
    counters[warp * kDigits + thread_number()] = next;
    next += own_count;
  }
  sync_block();
#pragma unroll
  for (std::uint32_t k = 0; k < kRows; ++k) {
    const std::uint32_t i = begin + k * kWarp + lane_number();
    if (i >= count) continue;
    const std::uint32_t place = own[keys[i] >> shift & (kDigits - 1)] + rank[k];
    to_numbers[place] = numbers[i];
    to_keys[place] = keys[i];
  }
  sync_block();
}

/// Sorts the points of a node by keys of kSortedBits bits, with as much memory for other numbers and keys.
template <bool kIsBlock, typename KeyAt>
__device__ __forceinline__ void sort_node(std::uint32_t count, std::uint32_t* counters, std::uint32_t* numbers,
                                          std::uint16_t* keys, std::uint32_t* other_numbers, std::uint16_t* other_keys,
                                          KeyAt&& key_at) {
  if constexpr (kIsBlock) {
    static_assert(2 * kWarpDigitBits == kSortedBits);
    for (std::uint32_t i = thread_number(); i < count; i += kLevelThreads) {
      keys[i] = static_cast<std::uint16_t>(key_at(numbers[i]));
    }
    sync_block();
    sort_by_digit(count, 0, counters, numbers, keys, other_numbers, other_keys);
    sort_by_digit(count, kWarpDigitBits, counters, other_numbers, other_keys, numbers, keys);
  } else if (count <= kWarp) {
    sort_by_warp<1>(count, numbers, keys, key_at);
  } else if (count <= 2 * kWarp) {
    sort_by_warp<2>(count, numbers, keys, key_at);
  } else if (count <= 4 * kWarp) {
    sort_by_warp<4>(count, numbers, keys, key_at);
  } else {
    static_assert(kWarpPoints <= 8 * kWarp);
    sort_by_warp<8>(count, numbers, keys, key_at);
  }
}

}  // namespace kith::cuda
