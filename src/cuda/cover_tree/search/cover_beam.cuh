// Where a walk through a cover tree begins: the leaf of the nearest centre, or nearly.
//
// In few dimensions the nearest child of a node is the way there. In many it is not: all children of the upper nodes
// are about as far from the query, and only the cells of the right cluster are near. So up to 32 nodes, a lane each, go
// down together. Nodes are left out once nothing in them can be as near as a centre that was met; in few dimensions
// that leaves few of them.
#pragma once

#include "cuda/cover_tree/search/exact_rounding.cuh"
#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/queries/nearest_in_lanes.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

template <typename Space>
class CoverBeam {
 public:
  using T = typename Space::Value;

  __device__ CoverBeam(const Space& space, const CoverSearchTree& tree, const std::byte* prepared)
      : space_(space), tree_(tree), prepared_(prepared), nodes_(kWarp, nullptr, 0) {}

  /// By the warp.
  __device__ __forceinline__ std::uint32_t nearest_leaf() {
    const T value = space_.measure(prepared_, tree_.centres.at(0), kFar);
    if (lane_number() == 0) ++evaluations_;
    nodes_.reset(kFar);
    nodes_.offer({value, 0}, lane_number() == 0);
    nearest_ = space_.metric(value);
    for (;;) {
      const Candidate<T> own = nodes_.entry();
      const bool has_node = own.index != kNoPoint && !is_far(own.distance, own.index);
      const bool is_inner = has_node && tree_.nodes.kind[own.index] == CoverKind::inner;
      std::uint32_t inner = ballot(is_inner);
      if (inner == 0) break;
      nodes_.reset(kFar);
      nodes_.offer(own, has_node && !is_inner);
      for (; inner != 0; inner &= inner - 1) {
        const Candidate<T> node = from_lane(own, lowest_bit(inner));
        offer_children(node.index, node.distance);
      }
    }
    return shuffle(nodes_.entry().index, 0);
  }
  /// Of this lane.
  __device__ std::uint32_t evaluations() const { return evaluations_; }

 private:
  static constexpr T kFar = std::numeric_limits<T>::infinity();

  __device__ bool is_far_from(double distance, std::uint32_t node) const {
    return rounding_of(space_).nearest(distance, tree_.nodes.reach[node]) > nearest_;
  }
  __device__ bool is_far(T value, std::uint32_t node) const { return is_far_from(space_.metric(value), node); }

  __device__ __forceinline__ void offer_children(std::uint32_t node, T value) {
    const std::uint32_t first = tree_.nodes.first[node], end = first + tree_.nodes.count[node];
    const double distance = space_.metric(value);
    for (std::uint32_t at = first; at < end; at += kWarp) {
      const std::uint32_t child = at + lane_number();
      Candidate<T> candidate = last_candidate<T>();
      bool is_offered = false;
      if (child == first) {
        candidate = {value, child};  // the same centre
        is_offered = true;
      } else if (child < end &&
                 !is_far_from(rounding_of(space_).apart(distance, tree_.nodes.to_parent[child]), child)) {
        candidate = {space_.measure(prepared_, tree_.centres.at(child), nodes_.limit().distance), child};
        ++evaluations_;
        is_offered = !is_far(candidate.distance, child);
      }
      nodes_.offer(candidate, is_offered);
      const double met = space_.metric(shuffle(nodes_.entry().distance, 0));
      if (met < nearest_) nearest_ = met;
    }
  }

  const Space& space_;
  const CoverSearchTree& tree_;
  const std::byte* prepared_;
  NearestInLanes<T> nodes_;
  double nearest_ = 0;  ///< of the centres that were met
  std::uint32_t evaluations_ = 0;
};

}  // namespace kith::cuda
