// The part of a segment that a block works on, and the addresses of what belongs to the segment.
#pragma once

#include "cuda/kd_tree/build/split_state.hpp"

namespace kith::cuda {

struct SegmentSlice {
  std::uint32_t segment = 0;
  std::uint64_t first = 0, end = 0;  ///< places
};

/// The part `part` of `parts` of a segment.
template <typename T>
KITH_HOST_DEVICE SegmentSlice slice_of(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t part,
                                       std::uint32_t parts) {
  const std::uint64_t begin = p.shape.geometry.first(p.first_level, segment);
  const std::uint64_t length = p.shape.geometry.first(p.first_level, segment + std::uint64_t{1}) - begin;
  return {segment, begin + length * part / parts, begin + length * (part + 1) / parts};
}

/// Whether the cells of a segment refine ties.
template <typename T>
KITH_HOST_DEVICE bool is_tied(const GroupParameters<T>& p, std::uint32_t segment) {
  return p.tied != nullptr && p.tied[segment] != 0;
}

/// The first place of node `heap` of a segment, which lies `level` levels below it.
template <typename T>
KITH_HOST_DEVICE std::uint64_t first_place(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                           std::uint32_t heap) {
  const std::uint64_t j = (std::uint64_t{segment} << level) + (heap - (1u << level));
  return p.shape.geometry.first(p.first_level + level, j);
}

/// How many points go to the left half of node `heap`.
template <typename T>
KITH_HOST_DEVICE std::uint32_t left_size(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                         std::uint32_t heap) {
  return static_cast<std::uint32_t>(first_place(p, segment, level + 1, 2 * heap + 1) -
                                    first_place(p, segment, level, heap));
}

/// Where the candidates of a node are listed, as entries of the copy that the scatter writes. Until it begins, from the
/// node's first place on. Those of the group's last level, which the scatter itself finds, at the places that it leaves
/// to them, however many they are: the last ones of the left half, which `needed` of them will take, then those of the
/// right half, from its end on.
template <bool kIsLast>
struct ListEntries {
  std::uint32_t left = 0, right = 0, needed = 0;

  ListEntries() = default;
  template <typename T>
  KITH_HOST_DEVICE ListEntries(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                               std::uint32_t heap, std::uint32_t go_left) {
    if constexpr (kIsLast) {
      needed = go_left;
      left = static_cast<std::uint32_t>(first_place(p, segment, level + 1, 2 * heap + 1)) - needed;
      right = static_cast<std::uint32_t>(first_place(p, segment, level, heap + 1)) - 1 + needed;
    } else {
      left = static_cast<std::uint32_t>(first_place(p, segment, level, heap));
    }
  }
  KITH_HOST_DEVICE std::uint32_t operator()(std::uint32_t i) const {
    return !kIsLast || i < needed ? left + i : right - i;
  }
};

/// The places of listed candidates, by entry.
template <bool kIsLast, typename T>
KITH_HOST_DEVICE std::uint32_t* listed_places(const GroupParameters<T>& p) {
  return kIsLast ? p.out_indices : p.places;
}

/// The lower sides of the box of a node; the upper ones follow after dims + 1 values.
template <typename T>
KITH_HOST_DEVICE T* box_of(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t heap) {
  return p.boxes + (std::uint64_t{segment} * kHeap + heap) * 2 * (p.shape.dims + 1);
}

}  // namespace kith::cuda
