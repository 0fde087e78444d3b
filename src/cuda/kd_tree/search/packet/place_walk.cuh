// The first points at a place, by ascending number: by a warp, a lane a node, then a lane a point.
//
// Copies of a point that a split parts lie to its left by lesser numbers, and the points of a leaf lie by number. So
// the leaves from left to right have the copies in order, and the walk ends where there are enough.
//
// Points elsewhere may be at reduced distance 0 as well, if the squares of tiny gaps are too small for a number. Where
// coordinates of the place are zero or tiny the walk goes on through all nodes that may hold such points, and finds
// nothing if there is one: then numbers of several places would have to be compared.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/kd_tree/search/packet/packed_points.cuh"
#include "cuda/kd_tree/search/warp/load_box.cuh"
#include "cuda/kd_tree/search/wide_tree.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename T, std::uint32_t kDims>
class PlaceWalk {
 public:
  static constexpr std::uint32_t kWords = 2 * WideTree::kMostDepths;  ///< of memory

  /// `memory` has room for kWords words of the warp's own. The tree's points are packed, and no leaf has more than 32.
  __device__ PlaceWalk(const SearchTree<T>& tree, const T (&place)[kDims], std::uint32_t* memory)
      : tree_(tree), near_at_(memory), others_at_(memory + WideTree::kMostDepths) {
    // From here on a number differs from all others by so much that the square is not 0.
    constexpr T kLeast = sizeof(T) == 4 ? T(0x1p-48) : T(0x1p-480);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      place_[d] = place[d];
      looks_at_others_ = looks_at_others_ || (place[d] > -kLeast && place[d] < kLeast);
    }
  }

  /// Calls put(i, number) of the first `wanted` points, or of a few more; each lane for some. Returns how many there
  /// were; 0 if points elsewhere are as near.
  template <typename Put>
  __device__ std::uint32_t run(std::uint32_t wanted, const Put& put) const {
    std::uint32_t depth = 0, found = 0;
    std::uint64_t group = 0;
    Nodes nodes = children_near(0, 0);
    for (;;) {
      const bool has_enough = found >= wanted;
      const std::uint32_t left = has_enough ? nodes.others : nodes.near;
      if (left == 0) {
        if (depth == 0) return found;
        --depth;
        group /= kWarp;
        sync_warp();
        nodes = {near_at_[depth], others_at_[depth]};
        sync_warp();  // before they are written again
        continue;
      }
      const std::uint64_t child = group * kWarp + lowest_bit(left);
      nodes.near &= ~(left & (~left + 1));
      nodes.others &= nodes.near;
      if (depth < tree_.wide.last) {
        if (lane_number() == 0) {
          near_at_[depth] = nodes.near;
          others_at_[depth] = nodes.others;
        }
        ++depth;
        group = child;
        nodes = children_near(depth, group);
        continue;
      }
      std::uint32_t number = 0;
      bool is_near = false;
      const bool is_here = load_if_here(child, number, is_near);
      if (any_lane(is_near && !is_here)) return 0;
      if (has_enough) continue;
      const std::uint32_t here = ballot(is_here);
      if (is_here) put(found + count_bits(here & ((1u << lane_number()) - 1)), number);
      found += count_bits(here);
      if (found >= wanted && !looks_at_others_) return found;
    }
  }

 private:
  /// Of the children of a node: those at reduced distance 0, and those of them that have more than copies.
  struct Nodes {
    std::uint32_t near, others;
  };

  __device__ Nodes children_near(std::uint32_t depth, std::uint64_t group) const {
    bool is_near = lane_number() < tree_.wide.children(depth), has_others = false;
    if (is_near) {
      T box[2 * kDims], sum = T(0);
      load_box<T, kDims>(
          tree_.lower(core::KdGeometry::node(tree_.wide.child_level(depth), group * kWarp + lane_number())), box);
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        const T below = box[d] - place_[d], above = place_[d] - box[kDims + d];
        sum = core::step_of_gap(core::L2{}, sum, greater(greater(below, above), T(0)));
        has_others = has_others || box[d] != place_[d] || box[kDims + d] != place_[d];
      }
      is_near = sum == T(0);
    }
    return {ballot(is_near), ballot(is_near && has_others)};
  }

  /// Whether this lane's point of a leaf is here, or as near as if it were.
  __device__ bool load_if_here(std::uint64_t leaf, std::uint32_t& number, bool& is_near) const {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint64_t at = geometry.first(geometry.levels, leaf) + lane_number();
    bool is_here = at < geometry.first(geometry.levels, leaf + 1);
    if (is_here) {
      PackedPoint<T, kDims> point;
      T sum = T(0);
      point.template load<true>(tree_.packed + at * PackedPoint<T, kDims>::kBytes);
      number = point.number;
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        sum = core::step_of_gap(core::L2{}, sum, T(place_[d] - point.values[d]));
        is_here = is_here && point.values[d] == place_[d];
      }
      is_near = sum == T(0);
    }
    return is_here;
  }

  const SearchTree<T>& tree_;
  std::uint32_t *near_at_, *others_at_;  ///< by depth: the children that are still to come
  T place_[kDims];
  bool looks_at_others_ = false;
};

}  // namespace kith::cuda
