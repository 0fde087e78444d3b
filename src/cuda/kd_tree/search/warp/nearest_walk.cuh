// The walk of one query through the tree by a warp: near nodes first, a lane a node, then a lane a point.
//
// It is exact for the reason that the CPU's is: boxes are measured by the chain of the contract, which never puts a box
// beyond a point inside, and a node is passed over only if (bound, smallest number inside) does not come before the
// limit of the query. The order of the walk makes it fast, not right.
#pragma once

#include "cuda/queries/query_info.hpp"
#include "cuda/primitives/candidate_warp.cuh"
#include "cuda/kd_tree/search/measure.cuh"
#include "cuda/kd_tree/search/warp/offer_leaf.cuh"
#include "cuda/kd_tree/search/search_types.hpp"
#include "cuda/kd_tree/search/wide_tree.hpp"

#include <bit>

namespace kith::cuda {

/// Unsigned order of what is not negative; of doubles the upper half, which is enough to choose who comes first.
__device__ __forceinline__ std::uint32_t rough_order(float bound) { return std::bit_cast<std::uint32_t>(bound); }
__device__ __forceinline__ std::uint32_t rough_order(double bound) {
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(bound) >> 32);
}

/// Offers everything to `collector` that can come before collector.limit().
template <typename T, std::uint32_t kDims, typename Collector>
class NearestWalk {
 public:
  /// `bounds` has room for WideTree::kMostDepths x 32 values of the warp's own.
  __device__ NearestWalk(const SearchTree<T>& tree, const SearchFilter& filter, const Measure<T, kDims>& measure,
                         const QueryInfo& info, T* bounds, Collector& collector)
      : tree_(tree),
        filter_(filter),
        measure_(measure),
        info_(info),
        bounds_(bounds),
        collector_(collector),
        wide_(tree.geometry.levels) {}

  __device__ void run() {
    const std::uint64_t most = tree_.geometry.most_per_leaf();
    const std::uint32_t leaves_at_once = most <= 8 ? 4 : most <= 16 ? 2 : 1;
    enter(0, 0);
    for (;;) {
      const bool is_open = is_left(lane_number()) && !is_beyond();
      const std::uint32_t open = ballot(is_open);
      if (open == 0) {
        if (depth_ == 0) return;
        leave();
        continue;
      }
      left_ = open;  // limits only fall
      std::uint32_t key = is_open ? rough_order(bound_) : kNoKey;
      const std::uint32_t nearest = take_nearest(key);
      if (depth_ < wide_.last) {
        descend(nearest);
        continue;
      }
      std::uint32_t own = nearest;
      for (std::uint32_t i = 1; i < leaves_at_once && left_ != 0; ++i) {
        const std::uint32_t next = take_nearest(key);
        own = lane_number() / (kWarp / leaves_at_once) >= i ? next : own;
      }
      // With fewer leaves than places the last one would be read more than once.
      const std::uint32_t taken = count_bits(open) < leaves_at_once ? count_bits(open) : leaves_at_once;
      const bool has_leaf = lane_number() / (kWarp / leaves_at_once) < taken;
      offer_leaf(tree_.leaf(group_ * kWarp + own), has_leaf, kWarp / leaves_at_once, static_cast<std::uint32_t>(most),
                 filter_, measure_, info_, collector_);
    }
  }

 private:
  static constexpr std::uint32_t kNoKey = 0xffffffff;

  __device__ bool is_left(std::uint32_t child) const { return (left_ >> child & 1) != 0; }

  /// The number of this lane's node among all nodes.
  __device__ std::uint64_t node() const {
    return core::KdGeometry::node(wide_.child_level(depth_), group_ * kWarp + lane_number());
  }

  /// Whether this lane's node has nothing before the limit.
  __device__ bool is_beyond() const {
    const Candidate<T>& limit = collector_.limit();
    if (bound_ != limit.distance) return bound_ > limit.distance;  // before the node's number is read
    return limit.excludes(bound_, tree_.smallest[node()]);
  }

  /// The left child with the least key, which is left no more.
  __device__ std::uint32_t take_nearest(std::uint32_t& key) {
    const std::uint32_t least = min_of_warp(key);
    const std::uint32_t child = lowest_bit(ballot(key == least && is_left(lane_number())));
    left_ &= ~(1u << child);
    if (lane_number() == child) key = kNoKey;
    return child;
  }

  __device__ void enter(std::uint32_t depth, std::uint64_t group) {
    depth_ = depth;
    group_ = group;
    bool is_there = lane_number() < wide_.children(depth);
    bound_ = std::numeric_limits<T>::infinity();
    if (is_there) {
      const std::uint64_t own = node();
      bound_ = measure_.to_box(tree_.lower(own));
      if (info_.end != kNoPoint) is_there = tree_.smallest[own] < info_.end;
    }
    left_ = ballot(is_there);
  }

  __device__ void descend(std::uint32_t child) {
    bounds_[depth_ * kWarp + lane_number()] = bound_;
    if (lane_number() == depth_) masks_ = left_;
    enter(depth_ + 1, group_ * kWarp + child);
  }

  __device__ void leave() {
    --depth_;
    group_ /= kWarp;
    left_ = shuffle(masks_, depth_);
    bound_ = bounds_[depth_ * kWarp + lane_number()];  // what this lane itself has written
  }

  const SearchTree<T>& tree_;
  const SearchFilter& filter_;
  const Measure<T, kDims>& measure_;
  const QueryInfo& info_;
  T* bounds_;
  Collector& collector_;
  WideTree wide_;
  std::uint32_t depth_ = 0;
  std::uint64_t group_ = 0;
  std::uint32_t left_ = 0;   ///< children that are still to be visited
  std::uint32_t masks_ = 0;  ///< lane d has those of depth d
  T bound_ = 0;              ///< of this lane's child
};

}  // namespace kith::cuda
