// The first points at a place, by ascending number: by a warp, a lane a node, then a lane a point.
//
// Copies of a point that a split parts lie to its left by lesser numbers, and the points of a leaf lie by number. So
// the leaves from left to right have the copies in order, and the walk ends where there are enough.
#pragma once

#include "cuda/kd_tree/search/packet/packed_points.cuh"
#include "cuda/kd_tree/search/warp/load_box.cuh"
#include "cuda/kd_tree/search/wide_tree.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename T, std::uint32_t kDims>
class PlaceWalk {
 public:
  /// `left_at` has room for WideTree::kMostDepths words of the warp's own. The tree's points are packed, and no leaf
  /// has more than 32.
  __device__ PlaceWalk(const SearchTree<T>& tree, const T (&place)[kDims], std::uint32_t* left_at)
      : tree_(tree), left_at_(left_at) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) place_[d] = place[d];
  }

  /// Calls put(i, number) of the first `wanted` points, or of a few more; each lane for some. Returns how many there
  /// were.
  template <typename Put>
  __device__ std::uint32_t run(std::uint32_t wanted, const Put& put) const {
    std::uint32_t depth = 0, found = 0, left = children_here(0, 0);
    std::uint64_t group = 0;
    for (;;) {
      if (left == 0) {
        if (depth == 0) return found;
        --depth;
        group /= kWarp;
        sync_warp();
        left = left_at_[depth];
        sync_warp();  // before it is written again
        continue;
      }
      const std::uint64_t child = group * kWarp + lowest_bit(left);
      left &= left - 1;
      if (depth < tree_.wide.last) {
        if (lane_number() == 0) left_at_[depth] = left;
        ++depth;
        group = child;
        left = children_here(depth, group);
        continue;
      }
      std::uint32_t number = 0;
      const bool is_here = load_if_here(child, number);
      const std::uint32_t here = ballot(is_here);
      if (is_here) put(found + count_bits(here & ((1u << lane_number()) - 1)), number);
      found += count_bits(here);
      if (found >= wanted) return found;
    }
  }

 private:
  __device__ std::uint32_t children_here(std::uint32_t depth, std::uint64_t group) const {
    bool is_here = lane_number() < tree_.wide.children(depth);
    if (is_here) {
      T box[2 * kDims];
      load_box<T, kDims>(
          tree_.lower(core::KdGeometry::node(tree_.wide.child_level(depth), group * kWarp + lane_number())), box);
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        is_here = is_here && box[d] <= place_[d] && place_[d] <= box[kDims + d];
      }
    }
    return ballot(is_here);
  }

  /// This lane's point of a leaf.
  __device__ bool load_if_here(std::uint64_t leaf, std::uint32_t& number) const {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint64_t at = geometry.first(geometry.levels, leaf) + lane_number();
    bool is_here = at < geometry.first(geometry.levels, leaf + 1);
    if (is_here) {
      PackedPoint<T, kDims> point;
      point.template load<true>(tree_.packed + at * PackedPoint<T, kDims>::kBytes);
      number = point.number;
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) is_here = is_here && point.values[d] == place_[d];
    }
    return is_here;
  }

  const SearchTree<T>& tree_;
  std::uint32_t* left_at_;
  T place_[kDims];
};

}  // namespace kith::cuda
