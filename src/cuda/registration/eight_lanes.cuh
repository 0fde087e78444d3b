// The nearest point of the target for four queries of a warp, eight lanes each: from the neighbours of a point nearby,
// which lists have, or by a walk of the tree.
//
// A list holds the k points nearest to a point t. A point that is not in it is at least as far from t as the last one,
// and so from a query at least by that less the query's distance from t. If a point of the list is nearer than this,
// it is the nearest of all; if not, the nearest of the list leads to the next list.
//
// Both are the work of a whole warp: eight lanes without an open query help the others to shuffle.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/registration/match_certainty.cuh"
#include "cuda/registration/nearest_and_next.cuh"
#include "cuda/registration/one_nearest.cuh"
#include "cuda/registration/registration_types.hpp"

#include <cstdint>
#include <limits>

namespace kith::cuda {

inline constexpr std::uint32_t kQueryLanes = 8;
using EightWayTree = TreeByLevels<3>;

template <typename T, std::uint32_t kDims>
__device__ __forceinline__ T reduced_between(const T (&query)[kDims], const T* row) {
  T sum = 0;
#pragma unroll
  for (std::uint32_t d = 0; d < kDims; ++d) sum = core::fused_multiply_add(query[d] - row[d], query[d] - row[d], sum);
  return sum;
}

/// Goes on from `best`, if that is a point, by lists. Returns whether it is the nearest point of all then; no other one
/// is nearer than `others`, as far as `best.next` is one of them or a bound.
template <typename T, std::uint32_t kDims>
__device__ bool follow_lists(const NeighborLists<T>& near, const T* rows, std::uint64_t count, const T (&query)[kDims],
                             bool is_open, NearestPoints<T>& best, T& others) {
  constexpr int kMostLists = 4;
  constexpr T kFarAway = 4;  // times as far as a list reaches: the tree finds such points sooner
  bool is_found = false;
  is_open = is_open && near.numbers != nullptr && best.number != core::kNoPoint;
#pragma unroll 1
  for (int round = 0; round < kMostLists && any_lane(is_open); ++round) {
    NearestPoints<T> found;
    const std::uint32_t at = best.number;
    T away = 0, last = 0;
    if (is_open) {
      T row[kDims];
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) row[d] = rows[std::uint64_t{at} * kDims + d];
      away = distance_between<T, kDims>(query, row);
      last = near.distances[std::uint64_t{at} * near.k + near.k - 1];
      is_open = away < kFarAway * last && last < kMostDistance<T>;
    }
    if (is_open) {
      for (std::uint32_t j = lane_number() % kQueryLanes; j < near.k; j += kQueryLanes) {
        const std::uint32_t number = near.numbers[std::uint64_t{at} * near.k + j];
        if (number == at || number >= count) continue;  // distances that overflow have no number
        found.offer(reduced_between<T, kDims>(query, rows + std::uint64_t{number} * kDims), number);
      }
    }
    found.join_eight_lanes();
    if (!is_open) continue;
    best.join(found);
    const T beyond = left_of(last, away);
    is_found = is_certain(core::square_root(best.reduced), beyond);
    if (is_found) others = lesser(kept_distance(best.next), beyond);
    is_open = !is_found && best.number != at;
  }
  return is_found;
}

/// Points of the tree that beat `best`, which is a point of it, or a bound. `bounds` has EightWayTree::kMostDepths
/// values of this lane, `stride` apart.
template <typename T, std::uint32_t kDims>
__device__ void walk_by_eight(const SearchTree<T>& tree, const T (&query)[kDims], bool is_open, T* bounds,
                              std::uint32_t stride, NearestPoints<T>& best) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const EightWayTree wide(tree.geometry.levels);
  const std::uint32_t lane = lane_number() % kQueryLanes;
  const auto node_of = [&](std::uint32_t depth, std::uint32_t child) {
    return core::KdGeometry::node(wide.child_level(depth), child);
  };
  std::uint32_t depth = 0, place = 0;  // of the wide node whose children are looked at
  bounds[0] =
      lane < wide.children(0) ? reduced_to_box<T, kDims>(query, tree.boxes + node_of(0, lane) * 2 * kDims) : kInfinity;
#pragma unroll 1
  while (any_lane(is_open)) {
    const T bound = bounds[depth * stride];
    const bool may_gain =
        is_open &&
        (bound < best.next || (bound <= best.reduced &&  // of equally far points the least number counts
                               tree.smallest[node_of(depth, place << EightWayTree::kStep | lane)] < best.number));
    T least = may_gain ? bound : kInfinity;
    std::uint32_t nearest = lane;
#pragma unroll
    for (std::uint32_t mask = 1; mask < kQueryLanes; mask *= 2) {
      const T other = shuffle_xor(least, mask);
      const std::uint32_t its_lane = shuffle_xor(nearest, mask);
      if (other < least || (other == least && its_lane < nearest)) {
        least = other;
        nearest = its_lane;
      }
    }
    const bool goes_on = is_open && least < kInfinity;
    const bool is_leaf = goes_on && depth == wide.last;
    const std::uint32_t child = place << EightWayTree::kStep | nearest;
    if (goes_on && lane == nearest) bounds[depth * stride] = kInfinity;
    if (any_lane(is_leaf)) {
      NearestPoints<T> found;
      if (is_leaf) {
        const SearchLeaf<T> leaf = tree.leaf(child);
        for (std::uint32_t i = lane; i < leaf.count; i += kQueryLanes) {
          T sum = 0;
#pragma unroll
          for (std::uint32_t d = 0; d < kDims; ++d) {
            const T gap = query[d] - leaf.values[d * leaf.count + i];
            sum = core::fused_multiply_add(gap, gap, sum);
          }
          const std::uint32_t number = leaf.numbers[i];
          if (number != best.number) found.offer(sum, number);
        }
      }
      found.join_eight_lanes();
      if (is_leaf) best.join(found);
    }
    if (goes_on && !is_leaf) {
      ++depth;
      place = child;
      bounds[depth * stride] =
          reduced_to_box<T, kDims>(query, tree.boxes + node_of(depth, place << EightWayTree::kStep | lane) * 2 * kDims);
    } else if (is_open && !goes_on) {
      is_open = depth > 0;
      depth -= is_open ? 1 : 0;
      place >>= EightWayTree::kStep;
    }
  }
}

}  // namespace kith::cuda
