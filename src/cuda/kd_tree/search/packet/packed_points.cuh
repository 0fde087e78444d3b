// A copy of a tree's points for searches by packets: a point after the other, in the order of the leaves, with its
// number.
//
// In the blocks of the leaves a coordinate lies beside the same coordinate of the next point, and where a column begins
// is aligned to nothing. The lanes of a packet look at points of different leaves: each load costs as much as the lines
// it touches, so one of 16 bytes per point is a third of what three are.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/packet/packet_types.hpp"
#include "cuda/kd_tree/search/search_types.hpp"

#include <bit>
#include <type_traits>

namespace kith::cuda {

struct alignas(16) PackedWords {
  std::uint32_t words[4];
};

/// A point of kDims dimensions, in registers.
template <typename T, std::uint32_t kDims>
struct PackedPoint {
  static constexpr std::uint32_t kWords = kDims * sizeof(T) / 4;  ///< of coordinates; the next is the number
  static constexpr std::uint32_t kBytes = packed_point_bytes<T>(kDims);

  T values[kDims];
  std::uint32_t number;

  /// Of the point at `from`. `kWithNumber`: otherwise only the coordinates are loaded.
  template <bool kWithNumber>
  __device__ __forceinline__ void load(const std::byte* from) {
    load_first<kDims, kWithNumber>(from);
  }
  /// The last coordinate stays as it is.
  __device__ __forceinline__ void load_all_but_last(const std::byte* from) { load_first<kDims - 1, false>(from); }
  __device__ __forceinline__ static T last_value(const std::byte* from) {
    return *reinterpret_cast<const T*>(from + (kDims - 1) * sizeof(T));
  }

  __device__ __forceinline__ void store(std::byte* to) const {
    constexpr std::uint32_t kStores = kBytes / 16;
    PackedWords stored[kStores] = {};
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      const auto bits = std::bit_cast<Bits>(values[d]);
#pragma unroll
      for (std::uint32_t half = 0; half < sizeof(T) / 4; ++half) {
        const std::uint32_t i = d * static_cast<std::uint32_t>(sizeof(T)) / 4 + half;
        stored[i / 4].words[i % 4] = static_cast<std::uint32_t>(std::uint64_t{bits} >> (32 * half));
      }
    }
    stored[kWords / 4].words[kWords % 4] = number;
#pragma unroll
    for (std::uint32_t i = 0; i < kStores; ++i) *reinterpret_cast<PackedWords*>(to + 16 * i) = stored[i];
  }

 private:
  template <std::uint32_t kCount, bool kWithNumber>
  __device__ __forceinline__ void load_first(const std::byte* from) {
    constexpr std::uint32_t kLoads = (kCount * sizeof(T) / 4 + (kWithNumber ? 1 : 0) + 3) / 4;
    PackedWords loaded[kLoads];
#pragma unroll
    for (std::uint32_t i = 0; i < kLoads; ++i) loaded[i] = load_words(from + 16 * i);
    const auto word = [&](std::uint32_t i) { return loaded[i / 4].words[i % 4]; };
#pragma unroll
    for (std::uint32_t d = 0; d < kCount; ++d) {
      if constexpr (sizeof(T) == 4) {
        values[d] = std::bit_cast<T>(word(d));
      } else {
        values[d] = std::bit_cast<T>(std::uint64_t{word(2 * d + 1)} << 32 | word(2 * d));
      }
    }
    if constexpr (kWithNumber) number = word(kWords);
  }
  __device__ __forceinline__ static PackedWords load_words(const std::byte* from) {
    return *reinterpret_cast<const PackedWords*>(from);
  }
};

/// A thread for each point, and those behind the last.
template <typename T, std::uint32_t kDims>
__global__ void pack_points(SearchTree<T> tree, std::byte* packed) {
  const std::uint64_t step = std::uint64_t{blocks_in_grid()} * threads_per_block();
  const std::uint64_t points = tree.geometry.points;
  for (std::uint64_t place = std::uint64_t{block_number()} * threads_per_block() + thread_number();
       place < points + kPackedBehind; place += step) {
    PackedPoint<T, kDims> point{};
    if (place < points) {
      const std::uint64_t number = tree.leaf_of_place(place);
      const SearchLeaf<T> leaf = tree.leaf(number);
      const std::uint64_t slot = place - tree.geometry.first(tree.geometry.levels, number);
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) point.values[d] = leaf.values[d * leaf.count + slot];
      point.number = leaf.numbers[slot];
    }
    point.store(packed + place * PackedPoint<T, kDims>::kBytes);
  }
}

}  // namespace kith::cuda
