// The walk of one query through a cover tree by a warp.
//
// A lane takes a child of the node that the walk is at, and is done with it if the triangle inequality, or a cheap
// bound of the space, tells that nothing in it can matter. Those that are left are collected until there are 32, or no
// more, and measured together. Then the leaves among them are looked at, the objects of all of them side by side, a
// lane an object; again those that bounds do not exclude wait in a queue until 32 are measured at once. Inner nodes are
// kept in a frame and entered one by one, the nearest first. By edit distances leaves of many nodes wait for each
// other, so that the lanes have something to do.
//
// It is exact because bounds are (core/cover_geometry.hpp says how rounding is allowed for), and a node is passed over
// only if (bound, lowest number inside) does not come before the limit of the query; the order of the walk makes it
// fast, not right.
#pragma once

#include "cuda/cover_tree/search/cover_beam.cuh"
#include "cuda/cover_tree/search/cover_objects.cuh"
#include "cuda/cover_tree/search/search_types.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Nodes that are left of one step of a walk.
template <typename T>
struct CoverFrame {
  double parent;   ///< how far the query is from their parent
  T value[kWarp];  ///< the same as a value, for each node
  T parent_value;
  std::uint32_t node[kWarp];
  std::uint32_t inner;               ///< bits: those to be entered
  std::uint32_t first, cursor, end;  ///< the children of the parent, and the first one that was not looked at
};

/// Offers everything to `collector` that can come before collector.limit().
template <typename Space, typename Collector>
class CoverWalk : public CoverObjects<Space, Collector> {
  using Objects = CoverObjects<Space, Collector>;
  using Objects::finish, Objects::has_bounds, Objects::is_beyond, Objects::least, Objects::limit;
  using Objects::info_, Objects::collector_, Objects::evaluations_, Objects::prepared_;
  using Objects::kNotMeasured, Objects::queue_, Objects::rounding_, Objects::space_, Objects::tree_;
  using Objects::look_at_leaves;
  using typename Objects::Distance;

 public:
  using T = typename Space::Value;

  /// `frames` has room for tree.height of them.
  __device__ CoverWalk(const Space& space, const CoverSearchTree& tree, const SearchFilter& filter,
                       const std::byte* prepared, CoverFrame<T>* frames, CoverQueue& queue)
      : Objects(space, tree, filter, prepared, queue), frames_(frames) {}

  /// Begins as seed_from where a beam ends.
  __device__ __forceinline__ void seed_nearest(std::uint32_t count) {
    CoverBeam<Space> beam(space_, tree_, prepared_);
    const std::uint32_t leaf = beam.nearest_leaf();
    evaluations_ += beam.evaluations();
    Objects::seed_from(leaf == kNoPoint ? 0 : tree_.nodes.first[leaf], count);
  }

  /// Everything else.
  __device__ __forceinline__ void run() {
    // One leaf of objects of which no distances are known has nothing to measure first.
    const bool is_leaf = tree_.nodes.kind[0] != CoverKind::inner;
    value_ = kNotMeasured;
    node_ = 0;
    if (tree_.nodes.kind[0] != CoverKind::leaf || tree_.distances != nullptr) {
      value_ = space_.measure(prepared_, tree_.centres.at(0), std::numeric_limits<T>::infinity());
      if (lane_number() == 0) ++evaluations_;
    }
    enter(0, value_);
    std::uint32_t depth = 0;
    for (;;) {
      Leaf leaf{node_, value_, false};
      bool looks = false, is_last = false;
      if (inner_ == 0) {
        if (is_leaf) {
          leaf.is_there = lane_number() == 0;
          looks = is_last = true;
        } else if (cursor_ < end_) {
          const bool is_open = collect_children();
          const bool is_inner = is_open && tree_.nodes.kind[node_] == CoverKind::inner;
          inner_ = ballot(is_inner);
          leaf = {node_, value_, is_open && !is_inner};
          looks = !kDefersLeaves;
        } else if (depth > 0) {
          restore(frames_[--depth]);
        } else {
          is_last = true;
        }
      }
      if constexpr (kDefersLeaves) {
        const bool is_urgent = is_last || Objects::takes_all();
        if (waiting_ >= (is_urgent ? 1 : kWarp)) measure_leaves();
        if (ready_ >= (is_urgent ? 1 : kWarp)) {
          leaf = ready_leaf();
          looks = true;
          is_last = is_last && ready_ == 0;
        }
      }
      if (looks) look_at_leaves(leaf.is_there, leaf.node, leaf.value);
      if (is_last) return finish();
      bool is_open = (inner_ >> lane_number() & 1) != 0;
      double bound = 0;
      if (is_open) {
        bound = rounding_.nearest(space_.metric(value_), tree_.nodes.reach[node_]);
        is_open = !is_beyond(bound, tree_.nodes.lowest + node_);
      }
      inner_ = ballot(is_open);  // limits only fall
      if (inner_ == 0) continue;
      const std::uint32_t key = is_open ? rough_value(static_cast<float>(bound > 0 ? bound : 0)) : kNoPoint;
      const std::uint32_t chosen = lowest_bit(ballot(key == min_of_warp(key) && is_open));
      inner_ &= ~(1u << chosen);
      const std::uint32_t node = shuffle(node_, chosen);
      const T node_value = shuffle(value_, chosen);
      if (inner_ != 0 || cursor_ < end_) save(frames_[depth++]);
      enter(node, node_value);
    }
  }

 private:
  /// Whether leaves wait until there are 32 of them: where a query looks at many, of nearly all nodes.
  static constexpr bool kDefersLeaves = Objects::kHasHeads;
  /// A leaf of this lane.
  struct Leaf {
    std::uint32_t node;
    T value;
    bool is_there;
  };
  /// So few objects are looked at rather than their centre, if that takes no more than a bound.
  static constexpr std::uint32_t kFewObjects = 12;
  /// Unsigned order of what is not negative.
  __device__ static std::uint32_t rough_value(float value) { return std::bit_cast<std::uint32_t>(value); }
  __device__ static std::uint32_t rough_value(double value) {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
  }

  __device__ void enter(std::uint32_t node, T value) {
    parent_value_ = value;
    parent_ = static_cast<Distance>(space_.metric(value));
    first_ = cursor_ = tree_.nodes.first[node];
    end_ = first_ + tree_.nodes.count[node];
    inner_ = 0;
  }
  __device__ void save(CoverFrame<T>& frame) const {
    frame.value[lane_number()] = value_;
    frame.node[lane_number()] = node_;
    if (lane_number() == 0) {
      frame.parent = parent_;
      frame.parent_value = parent_value_;
      frame.inner = inner_;
      frame.first = first_;
      frame.cursor = cursor_;
      frame.end = end_;
    }
    sync_warp();
  }
  __device__ void restore(const CoverFrame<T>& frame) {
    sync_warp();
    value_ = frame.value[lane_number()];
    node_ = frame.node[lane_number()];
    parent_ = static_cast<Distance>(frame.parent);
    parent_value_ = frame.parent_value;
    inner_ = frame.inner;
    first_ = frame.first;
    cursor_ = frame.cursor;
    end_ = frame.end;
    sync_warp();
  }

  /// Whether a child need not be measured, by what its parent and the space's bound tell.
  __device__ bool is_child_beyond(std::uint32_t child) {
    if constexpr (Objects::kHasHeads) {
      const CoverHead head = tree_.node_heads[child];
      const std::int32_t bound = Objects::head_.least(head, parent_, tree_.uses_bounds);
      return Objects::is_beyond_whole(bound - static_cast<std::int32_t>(head.first), tree_.nodes.lowest + child);
    }
    const double reach = tree_.nodes.reach[child];
    const std::uint32_t* lowest = tree_.nodes.lowest + child;
    const double apart = rounding_.apart(parent_, tree_.nodes.to_parent[child]);
    if (is_beyond(rounding_.nearest(apart, reach), lowest)) return true;
    if (has_bounds()) {
      const double nearest = space_.metric(least(tree_.centres.at(child)));
      if (is_beyond(rounding_.nearest(nearest, reach), lowest)) return true;
    }
    return false;
  }
  /// Whether it is better to look at its objects at once.
  __device__ bool is_small_leaf(std::uint32_t child) const {
    return has_bounds() && tree_.nodes.kind[child] == CoverKind::leaf && tree_.nodes.count[child] <= kFewObjects;
  }

  /// Up to 32 children that bounds do not exclude become this frame's and are measured. Whether there is one in this
  /// lane that is not excluded now. Leaves that are deferred are none of them.
  __device__ __forceinline__ bool collect_children() {
    std::uint32_t taken = 0;
    while (cursor_ < end_ && taken < kWarp && waiting_ < kWarp && ready_ < kWarp) {
      const std::uint32_t child = cursor_ + lane_number();
      const bool is_left = child < end_ && !is_child_beyond(child);
      const std::uint32_t lanes_before = (1u << lane_number()) - 1;
      const std::uint32_t inner = kDefersLeaves ? ballot(is_left && tree_.nodes.kind[child] == CoverKind::inner) : 0;
      const bool is_node = kDefersLeaves ? (inner >> lane_number() & 1) != 0 : is_left;
      const std::uint32_t left = kDefersLeaves ? inner : ballot(is_left);
      const std::uint32_t before = count_bits(left & lanes_before);
      const bool fits = taken + before < kWarp;
      if (is_node && fits) queue_.nodes[taken + before] = child;
      const std::uint32_t out = ballot(is_node && !fits);
      const std::uint32_t looked = out != 0 ? lowest_bit(out) : kWarp;
      taken += count_bits(left & ~out);
      if constexpr (kDefersLeaves) defer(child, is_left && !is_node && lane_number() < looked);
      cursor_ += looked;
    }
    if (cursor_ > end_) cursor_ = end_;
    sync_warp();
    const bool has_node = lane_number() < taken;
    node_ = has_node ? queue_.nodes[lane_number()] : first_;
    value_ = kNotMeasured;
    if (has_node) {
      value_ = node_ == first_ ? parent_value_ : is_small_leaf(node_) ? kNotMeasured : measured(node_);
    }
    sync_warp();
    return is_open_now(has_node, node_, value_);
  }
  __device__ __forceinline__ T measured(std::uint32_t node) {
    ++evaluations_;
    return space_.measure(prepared_, tree_.centres.at(node), std::numeric_limits<T>::infinity());
  }
  __device__ bool is_open_now(bool has_node, std::uint32_t node, T value) {
    bool is_open = has_node && (value == kNotMeasured || !is_node_beyond(node, value));
    if constexpr (Collector::kCountsOnly) is_open = !count_whole(is_open, node, value) && is_open;
    return is_open;
  }
  __device__ bool is_node_beyond(std::uint32_t node, T value) {
    return is_beyond(rounding_.nearest(space_.metric(value), tree_.nodes.reach[node]), tree_.nodes.lowest + node);
  }

  /// Nodes of which every object is within the bound are counted and need no look.
  __device__ bool count_whole(bool is_open, std::uint32_t node, T value) {
    bool is_whole = false;
    if (is_open && info_.is_open && value != kNotMeasured) {
      // Values are told apart by their distances only if these are not rounded: otherwise less is needed.
      const double farthest = rounding_.farthest(space_.metric(value), tree_.nodes.reach[node]);
      is_whole = farthest < limit() || (rounding_.is_exact() && farthest == limit());
    }
    collector_->add(sum_of_warp(is_whole ? tree_.nodes.objects[node] : 0));
    return is_whole;
  }

  /// Leaves that are to be measured wait for that, others until they are looked at.
  __device__ __forceinline__ void defer(std::uint32_t leaf, bool is_deferred) {
    const bool is_known = is_deferred && leaf == first_;
    const bool is_ready = is_known || (is_deferred && is_small_leaf(leaf));
    add_ready({leaf, is_known ? parent_value_ : kNotMeasured, is_ready});
    const std::uint32_t more = ballot(is_deferred && !is_ready);
    if (is_deferred && !is_ready) queue_.leaves[waiting_ + count_bits(more & ((1u << lane_number()) - 1))] = leaf;
    waiting_ += count_bits(more);
  }
  __device__ __forceinline__ void add_ready(const Leaf& leaf) {
    const std::uint32_t more = ballot(leaf.is_there);
    if (leaf.is_there) {
      const std::uint32_t place = ready_ + count_bits(more & ((1u << lane_number()) - 1));
      queue_.ready_leaves[place] = leaf.node;
      queue_.ready_values[place] = static_cast<float>(leaf.value);
    }
    ready_ += count_bits(more);
  }
  /// Up to 32 of those that wait.
  __device__ __forceinline__ void measure_leaves() {
    sync_warp();
    const std::uint32_t count = waiting_ < kWarp ? waiting_ : kWarp;
    waiting_ -= count;
    Leaf leaf{0, kNotMeasured, lane_number() < count};
    if (leaf.is_there) {
      leaf.node = queue_.leaves[waiting_ + lane_number()];
      leaf.value = measured(leaf.node);
    }
    sync_warp();
    leaf.is_there = is_open_now(leaf.is_there, leaf.node, leaf.value);
    add_ready(leaf);
  }
  /// One of up to 32 that are ready.
  __device__ __forceinline__ Leaf ready_leaf() {
    sync_warp();
    const std::uint32_t count = ready_ < kWarp ? ready_ : kWarp;
    ready_ -= count;
    Leaf leaf{0, kNotMeasured, lane_number() < count};
    if (leaf.is_there) {
      leaf.node = queue_.ready_leaves[ready_ + lane_number()];
      leaf.value = static_cast<T>(queue_.ready_values[ready_ + lane_number()]);
    }
    sync_warp();
    return leaf;
  }

  CoverFrame<T>* frames_;

  // This frame.
  Distance parent_ = 0;
  T parent_value_ = 0;
  std::uint32_t first_ = 0, cursor_ = 0, end_ = 0, inner_ = 0;
  T value_ = 0;
  std::uint32_t node_ = 0;

  std::uint32_t waiting_ = 0, ready_ = 0;  ///< leaves
};

}  // namespace kith::cuda
