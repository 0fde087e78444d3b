// The nearest neighbours of the points of a small cloud: lists in registers, and the walk that fills those of 32 points
// that lie together.
#pragma once

#include "core/arithmetic.hpp"
#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/small_cloud.cuh"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// A point in a list: ordered by distance, then by number. `at` is its number, then its place, 16 bits each.
template <typename T>
struct ListEntry {
  T reduced;
  std::uint32_t at;
  __device__ static ListEntry of(T reduced, std::uint32_t at) { return {reduced, at}; }
  __device__ bool operator<(const ListEntry& other) const {
    return reduced < other.reduced || (reduced == other.reduced && at < other.at);
  }
  __device__ T distance() const { return core::square_root(reduced); }
  __device__ std::uint32_t place() const { return at & 0xffff; }
};
/// Of f32 as one number.
template <>
struct ListEntry<float> {
  std::uint64_t key;
  __device__ static ListEntry of(float reduced, std::uint32_t at) {
    return {core::packed_pair(std::bit_cast<std::uint32_t>(reduced), at)};
  }
  __device__ bool operator<(const ListEntry& other) const { return key < other.key; }
  __device__ float reduced_distance() const { return std::bit_cast<float>(core::distance_bits_of(key)); }
  __device__ float distance() const { return core::square_root(reduced_distance()); }
  __device__ std::uint32_t place() const { return core::index_of(key) & 0xffff; }
};

/// The kList nearest points in their order, in registers.
template <typename T, std::uint32_t kList>
struct NearestList {
  ListEntry<T> entries[kList];
  T limit;  ///< the reduced distance of the last; below 0: the lane is idle

  __device__ NearestList() : limit(std::numeric_limits<T>::infinity()) {
#pragma unroll
    for (std::uint32_t i = 0; i < kList; ++i) entries[i] = ListEntry<T>::of(limit, 0xffffffff);
  }
  template <std::uint32_t kDims>
  __device__ void scan_leaf(const SmallTree<T, kDims>& tree, std::uint32_t leaf, const T (&query)[kDims]) {
#pragma unroll 2
    for (std::uint32_t i = 0; i < kSmallLeaf; ++i) {
      const T reduced = reduced_to_point<T, kDims>(query, tree.leaves[leaf], i);
      const std::uint32_t place = leaf * kSmallLeaf + i;
      if (reduced <= limit) insert(reduced, std::uint32_t{tree.numbers[place]} << 16 | place);
    }
  }
  __device__ std::uint32_t place(std::uint32_t i) const { return entries[i].place(); }
  __device__ void insert(T reduced, std::uint32_t at) {
    const ListEntry<T> entry = ListEntry<T>::of(reduced, at);
#pragma unroll
    for (std::uint32_t i = kList - 1; i > 0; --i) {
      const bool moves_up = entry < entries[i - 1];
      if (moves_up) {
        entries[i] = entries[i - 1];
      } else if (entry < entries[i]) {
        entries[i] = entry;
      }
    }
    if (entry < entries[0]) entries[0] = entry;
    if constexpr (sizeof(T) == 4) {
      limit = entries[kList - 1].reduced_distance();
    } else {
      limit = entries[kList - 1].reduced;
    }
  }
};

/// The nearest points by keys of 32 bits: the upper 20 bits of the distance above the place. Two instructions an entry
/// insert a key. Two more are kept than are wanted, so that keys that are too coarse to tell points apart are seen.
template <std::uint32_t kList>
struct KeyList {
  static constexpr std::uint32_t kKept = kList + 2;
  static constexpr std::uint32_t kPlaces = kMostSmallPoints - 1;  ///< the bits of places
  static constexpr std::uint32_t kInfinity = 0x7f800000, kNone = 0xffffffff;
  std::uint32_t keys[kKept];
  float limit;  ///< no less than the reduced distance of the last; below 0: the lane is idle

  __device__ KeyList() : limit(std::numeric_limits<float>::infinity()) {
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) keys[i] = kNone;
  }
  template <std::uint32_t kDims>
  __device__ void scan_leaf(const SmallTree<float, kDims>& tree, std::uint32_t leaf, const float (&query)[kDims]) {
    const SmallLeaf<float, kDims> points = tree.leaves[leaf];
#pragma unroll
    for (std::uint32_t i = 0; i < kSmallLeaf; ++i) {
      const float reduced = reduced_to_point<float, kDims>(query, points, i);
      if (reduced <= limit) insert((std::bit_cast<std::uint32_t>(reduced) & ~kPlaces) | (leaf * kSmallLeaf + i));
    }
  }
  __device__ __forceinline__ void insert(std::uint32_t key) {
#pragma unroll
    for (std::uint32_t i = kKept - 1; i > 0; --i) {
      const std::uint32_t lesser_of_both = keys[i] < key ? keys[i] : key;
      keys[i] = keys[i - 1] > lesser_of_both ? keys[i - 1] : lesser_of_both;
    }
    keys[0] = keys[0] < key ? keys[0] : key;
    std::uint32_t last = keys[kKept - 1] | kPlaces;
    if (last > kInfinity) last = kInfinity;
    limit = std::bit_cast<float>(last);
  }
  /// Whether the `wanted` nearest are among those that are kept.
  __device__ bool holds(std::uint32_t wanted) const {
    std::uint32_t last = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kList; ++i) last = i < wanted ? keys[i] : last;
    return (keys[kKept - 1] | kPlaces) > (last | kPlaces);
  }
  /// Puts points with keys of the same distance into their exact order.
  template <std::uint32_t kDims>
  __device__ void put_in_order(const SmallTree<float, kDims>& tree, const float (&query)[kDims]) {
    const auto entry = [&](std::uint32_t i) {
      const std::uint32_t at = place(i);
      const float reduced = reduced_to_point<float, kDims>(query, tree.leaves[at / kSmallLeaf], at % kSmallLeaf);
      return ListEntry<float>::of(reduced, std::uint32_t{tree.numbers[at]} << 16 | at);
    };
    bool is_in_order = false;
    while (!is_in_order) {
      is_in_order = true;
#pragma unroll
      for (std::uint32_t i = 0; i + 1 < kKept; ++i) {
        if ((keys[i] | kPlaces) != (keys[i + 1] | kPlaces) || keys[i + 1] == kNone) continue;
        if (!(entry(i + 1) < entry(i))) continue;
        const std::uint32_t key = keys[i];
        keys[i] = keys[i + 1];
        keys[i + 1] = key;
        is_in_order = false;
      }
    }
  }
  __device__ std::uint32_t place(std::uint32_t i) const { return keys[i] & kPlaces; }
};

/// The lists of 32 points that lie together: the lanes of a warp visit the same nodes. A lane whose limit is below 0
/// is idle.
template <typename T, std::uint32_t kDims, typename List>
__device__ void find_lists(const SmallTree<T, kDims>& tree, const T (&query)[kDims], List& list) {
  const std::uint32_t slots = tree.shape.slots;
  std::uint32_t node = 1, trail = 0;
  while (true) {
    bool goes_on = true;
    while (node < slots) {
      const SmallBoxes<T, kDims> boxes = tree.boxes[node];
      const T to_left = reduced_to_side<T, kDims>(query, boxes, 0);
      const T to_right = reduced_to_side<T, kDims>(query, boxes, 1);
      const std::uint32_t left = ballot(to_left <= list.limit);
      const std::uint32_t right = ballot(to_right <= list.limit);
      goes_on = (left | right) != 0;
      if (!goes_on) break;
      const std::uint32_t prefer_left = count_bits(ballot(to_left < to_right));
      const std::uint32_t prefer_right = count_bits(ballot(to_right < to_left));
      const bool goes_left = right == 0 || (left != 0 && prefer_left >= prefer_right);
      node = 2 * node + (goes_left ? 0 : 1);
      trail = 2 * trail + ((goes_left ? right : left) != 0 ? 1 : 0);
    }
    const std::uint32_t leaf = node - slots;
    if (goes_on && leaf < tree.shape.leaves) {  // slots behind the last leaf are as far as the limit of an open list
      list.scan_leaf(tree, leaf, query);
    }
    do {
      if (trail == 0) return;
      const std::uint32_t levels = lowest_bit(trail);
      node = (node >> levels) ^ 1;
      trail = (trail >> levels) ^ 1;
    } while (!any_lane(reduced_to_side<T, kDims>(query, tree.boxes[node / 2], node % 2) <= list.limit));
  }
}

}  // namespace kith::cuda
