// The walk of one query through a cover tree by a warp.
//
// A lane takes a child of the node that the walk is at, and is done with it if the triangle inequality, or a cheap
// bound of the space, tells that nothing in it can matter. Those that are left are collected until there are 32, or no
// more, and measured together. Then the leaves among them are looked at, the objects of all of them side by side, a
// lane an object; again those that bounds do not exclude wait in a queue until 32 are measured at once. Inner nodes are
// kept in a frame and entered one by one, the nearest first.
//
// It is exact because bounds are (core/cover_geometry.hpp says how rounding is allowed for), and a node is passed over
// only if (bound, lowest number inside) does not come before the limit of the query; the order of the walk makes it
// fast, not right.
#pragma once

#include "cuda/cover_tree/search/search_types.hpp"
#include "cuda/kd_tree/search/asking.hpp"
#include "cuda/search/candidate_warp.cuh"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// A space that has a lower bound of its values that costs much less than they do.
template <typename Space>
concept BoundedSpace = requires(const Space& space, const std::byte* prepared, RowView row) {
  { space.least(prepared, row) } -> std::same_as<typename Space::Value>;
};

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

/// What a walk has of shared memory besides what is prepared and the frames.
struct CoverQueue {
  std::uint32_t positions[2 * kWarp];
  std::uint32_t nodes[kWarp];
};

/// Offers everything to `collector` that can come before collector.limit().
template <typename Space, typename Collector>
class CoverWalk {
 public:
  using T = typename Space::Value;

  /// `frames` has room for tree.height of them.
  __device__ CoverWalk(const Space& space, const CoverSearchTree& tree, const SearchFilter& filter,
                       const std::byte* prepared, CoverFrame<T>* frames, CoverQueue& queue)
      : space_(space),
        tree_(tree),
        filter_(filter),
        prepared_(prepared),
        frames_(frames),
        queue_(queue),
        rounding_(space.rounding()) {}

  /// The query that was prepared last. `shrink` as in engine::KnnRules.
  __device__ void ask(const Asking& asking, Collector& collector, T shrink) {
    asking_ = asking;
    collector_ = &collector;
    shrink_ = shrink;
    seed_first_ = seed_end_ = queued_ = 0;
    is_cut_ = false;
    limit_moved();
  }

  /// Measures `count` objects or so from a position on, which gives a limit to begin with.
  __device__ void seed_from(std::uint32_t position, std::uint32_t count) {
    seed_first_ = position;
    seed_end_ = tree_.count - position < count ? tree_.count : position + count;
    for (std::uint32_t at = seed_first_; at < seed_end_; at += kWarp) {
      const bool has_object = at + lane_number() < seed_end_;
      measure_object(has_object ? at + lane_number() : at, has_object && is_admitted(at + lane_number()));
    }
    collector_->settle();
    limit_moved();
  }
  /// The same around a position.
  __device__ void seed_around(std::uint32_t position, std::uint32_t count) {
    const std::uint32_t before = (count / 2 < position ? position - count / 2 : 0) / kWarp * kWarp;
    seed_from(before, count);
  }

  /// The same where a walk to the nearest child ends.
  __device__ void seed_nearest(std::uint32_t count) {
    std::uint32_t node = 0;
    while (tree_.nodes.kind[node] == CoverKind::inner) {
      const std::uint32_t first = tree_.nodes.first[node], end = first + tree_.nodes.count[node];
      T nearest = std::numeric_limits<T>::infinity();
      std::uint32_t nearest_child = first;
      for (std::uint32_t child = first + lane_number(); child < end; child += kWarp) {
        const RowView centre = tree_.centres.at(child);
        if (has_bounds() && least(centre) >= nearest) continue;
        const T value = space_.measure(prepared_, centre, nearest);
        ++evaluations_;
        if (value < nearest) {
          nearest = value;
          nearest_child = child;
        }
      }
      node = static_cast<std::uint32_t>(min_of_warp(std::uint64_t{rough_value(nearest)} << 32 | nearest_child));
    }
    seed_from(tree_.nodes.first[node], count);
  }

  /// Everything else.
  __device__ void run() {
    if (tree_.nodes.kind[0] == CoverKind::leaf && tree_.distances == nullptr) {
      look_at_nodes(lane_number() == 0, 0, kNotMeasured);
      return finish();
    }
    const T value = space_.measure(prepared_, tree_.centres.at(0), std::numeric_limits<T>::infinity());
    if (lane_number() == 0) ++evaluations_;
    enter(0, value);
    if (tree_.nodes.kind[0] != CoverKind::inner) {
      look_at_nodes(lane_number() == 0, 0, value);
      return finish();
    }
    std::uint32_t depth = 0;
    for (;;) {
      bool is_open = (inner_ >> lane_number() & 1) != 0;
      double bound = 0;
      if (is_open) {
        bound = rounding_.nearest(space_.metric(value_), tree_.nodes.reach[node_]);
        is_open = !is_beyond(bound, tree_.nodes.lowest + node_);
      }
      inner_ = ballot(is_open);  // limits only fall
      if (inner_ == 0) {
        if (cursor_ < end_) {
          collect_children();
        } else if (depth > 0) {
          restore(frames_[--depth]);
        } else {
          return finish();
        }
        continue;
      }
      const std::uint32_t key = is_open ? rough_value(static_cast<float>(bound > 0 ? bound : 0)) : kNoNumber;
      const std::uint32_t chosen = lowest_bit(ballot(key == min_of_warp(key) && is_open));
      inner_ &= ~(1u << chosen);
      const std::uint32_t node = shuffle(node_, chosen);
      const T node_value = shuffle(value_, chosen);
      if (inner_ != 0 || cursor_ < end_) save(frames_[depth++]);
      enter(node, node_value);
    }
  }

  /// False if the shrunken limit excluded what the limit would not have.
  __device__ bool is_exact() const { return !any_lane(is_cut_); }
  /// Of this lane, in all walks.
  __device__ std::uint64_t evaluations() const { return evaluations_; }

 private:
  /// So few objects are looked at rather than their centre, if that takes no more than a bound.
  static constexpr std::uint32_t kFewObjects = 12;
  /// Leaves of more are cut to where their objects can matter before these are looked at.
  static constexpr std::uint32_t kManyObjects = 2 * kWarp;
  static constexpr T kNotMeasured = -1;

  /// Unsigned order of what is not negative.
  __device__ static std::uint32_t rough_value(float value) { return std::bit_cast<std::uint32_t>(value); }
  __device__ static std::uint32_t rough_value(double value) {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
  }

  __device__ bool has_bounds() const { return BoundedSpace<Space> && tree_.uses_bounds; }
  __device__ T least(RowView row) const {
    if constexpr (BoundedSpace<Space>) return space_.least(prepared_, row);
    return 0;
  }

  __device__ void limit_moved() {
    limit_ = space_.metric(collector_->limit().distance);
    const bool is_full = collector_->limit().index != kNoNumber;
    shrunk_ = is_full && shrink_ != 1 ? space_.metric(collector_->limit().distance * shrink_) : limit_;
  }

  /// Whether objects that are at least `bound` away, and numbered from `*lowest` on, do not matter. A bound that is no
  /// number says nothing. The number is read only if it decides.
  __device__ bool is_beyond(double bound, const std::uint32_t* lowest) {
    if (bound > limit_) return true;
    if (bound > shrunk_) {
      is_cut_ = true;
      return true;
    }
    const bool is_tied = rounding_.is_exact() && bound == limit_;
    if (!is_tied && asking_.end == kNoNumber) return false;
    return *lowest >= asking_.end || (is_tied && *lowest >= collector_->limit().index);
  }

  __device__ bool is_admitted(std::uint32_t position) const {
    return asking_.is_open || filter_.admits(asking_.number, asking_.end, tree_.order[position]);
  }

  __device__ void enter(std::uint32_t node, T value) {
    parent_value_ = value;
    parent_ = space_.metric(value);
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
    parent_ = frame.parent;
    parent_value_ = frame.parent_value;
    inner_ = frame.inner;
    first_ = frame.first;
    cursor_ = frame.cursor;
    end_ = frame.end;
    sync_warp();
  }

  /// Whether a child need not be measured, by what its parent and the space's bound tell.
  __device__ bool is_child_beyond(std::uint32_t child) {
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

  /// Up to 32 children that bounds do not exclude are measured: leaves are looked at, others become this frame's.
  __device__ void collect_children() {
    std::uint32_t taken = 0;
    while (cursor_ < end_ && taken < kWarp) {
      const std::uint32_t child = cursor_ + lane_number();
      const bool is_left = child < end_ && !is_child_beyond(child);
      const std::uint32_t left = ballot(is_left), before = count_bits(left & ((1u << lane_number()) - 1));
      const bool fits = taken + before < kWarp;
      if (is_left && fits) queue_.nodes[taken + before] = child;
      const std::uint32_t out = ballot(is_left && !fits);
      taken += count_bits(left & ~out);
      cursor_ = out != 0 ? cursor_ + lowest_bit(out) : cursor_ + kWarp;
    }
    if (cursor_ > end_) cursor_ = end_;
    sync_warp();
    const bool has_node = lane_number() < taken;
    node_ = has_node ? queue_.nodes[lane_number()] : first_;
    value_ = kNotMeasured;
    if (has_node) {
      if (node_ == first_) {
        value_ = parent_value_;  // the same centre
      } else if (!is_small_leaf(node_)) {
        value_ = space_.measure(prepared_, tree_.centres.at(node_), std::numeric_limits<T>::infinity());
        ++evaluations_;
      }
    }
    sync_warp();
    const bool is_inner = has_node && tree_.nodes.kind[node_] == CoverKind::inner;
    bool is_open = has_node && (value_ == kNotMeasured || !is_node_beyond());
    if constexpr (Collector::kCountsOnly) is_open = !count_whole(is_open) && is_open;
    look_at_nodes(is_open && !is_inner, node_, value_);
    inner_ = ballot(is_open && is_inner);
  }
  __device__ bool is_node_beyond() {
    return is_beyond(rounding_.nearest(space_.metric(value_), tree_.nodes.reach[node_]), tree_.nodes.lowest + node_);
  }

  /// Nodes of which every object is within the bound are counted and need no look.
  __device__ bool count_whole(bool is_open) {
    bool is_whole = false;
    if (is_open && asking_.is_open && value_ != kNotMeasured) {
      // Values are told apart by their distances only if these are not rounded: otherwise less is needed.
      const double farthest = rounding_.farthest(space_.metric(value_), tree_.nodes.reach[node_]);
      is_whole = farthest < limit_ || (rounding_.is_exact() && farthest == limit_);
    }
    collector_->add(sum_of_warp(is_whole ? tree_.nodes.objects[node_] : 0));
    return is_whole;
  }

  /// Leaves, a lane each; those that have none take part.
  __device__ void look_at_nodes(bool has_leaf, std::uint32_t leaf, T value) {
    for (std::uint32_t same = ballot(has_leaf && tree_.nodes.kind[leaf] == CoverKind::same); same != 0;
         same &= same - 1) {
      const std::uint32_t lane = lowest_bit(same);
      offer_same(shuffle(leaf, lane), shuffle(value, lane));
    }
    std::uint32_t begin = 0, end = 0;
    double distance = -1;
    if (has_leaf && tree_.nodes.kind[leaf] == CoverKind::leaf) {
      begin = tree_.nodes.first[leaf];
      end = begin + tree_.nodes.count[leaf];
      if (value != kNotMeasured && tree_.distances != nullptr) {
        distance = space_.metric(value);
        if (end - begin > kManyObjects) narrow(begin, end, distance);
      }
    }
    look_at_objects(begin, end, distance);
    if (queued_ > 0 && collector_->limit().index == kNoNumber) {
      if constexpr (!Collector::kCountsOnly && Collector::kHasList) drain();
    }
  }

  /// Leaves out the objects at both ends of a leaf that are too near to the centre, or too far.
  __device__ void narrow(std::uint32_t& begin, std::uint32_t& end, double distance) const {
    const std::uint32_t all = end;
    std::uint32_t low = begin, high = all;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const double object = tree_.distances[middle];
      const bool is_too_near = object <= distance && rounding_.nearest(distance, object) > limit_;
      (is_too_near ? low : high) = is_too_near ? middle + 1 : middle;
    }
    begin = low;
    high = all;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const double object = tree_.distances[middle];
      const bool is_too_far = object > distance && rounding_.nearest(object, distance) > limit_;
      (is_too_far ? high : low) = is_too_far ? middle : middle + 1;
    }
    end = low;
  }

  /// The objects of all lanes' ranges, 32 at a time. `distance`: from the query to the centre of the leaf; below 0:
  /// nobody knows.
  __device__ void look_at_objects(std::uint32_t begin, std::uint32_t end, double distance) {
    // Of long ranges all but the last objects, one range after the other.
    for (std::uint32_t ranges = ballot(end - begin >= kWarp); ranges != 0; ranges &= ranges - 1) {
      const std::uint32_t lane = lowest_bit(ranges), last = shuffle(end, lane);
      const double from_centre = shuffle(distance, lane);
      std::uint32_t at = shuffle(begin, lane);
      for (; last - at >= kWarp; at += kWarp) {
        enqueue(at + lane_number(), may_matter(at + lane_number(), from_centre));
      }
      if (lane == lane_number()) begin = at;
    }
    std::uint32_t sum = end - begin;  // of this lane and those before
#pragma unroll
    for (std::uint32_t step = 1; step < kWarp; step *= 2) {
      const std::uint32_t before = shuffle_up(sum, step);
      if (lane_number() >= step) sum += before;
    }
    const std::uint32_t total = shuffle(sum, kWarp - 1);
    const std::uint32_t shift = end - sum;  // from the number of an object among all to its position
    for (std::uint32_t at = 0; at < total; at += kWarp) {
      const std::uint32_t object = at + lane_number();
      std::uint32_t lane = 0;  // the first one whose sum is above
#pragma unroll
      for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
        if (shuffle(sum, lane + step - 1) <= object) lane += step;
      }
      const std::uint32_t position = object + shuffle(shift, lane);
      const double from_centre = shuffle(distance, lane);
      enqueue(position, object < total && may_matter(position, from_centre));
    }
  }

  __device__ bool may_matter(std::uint32_t position, double distance) {
    if (position - seed_first_ < seed_end_ - seed_first_) return false;  // was measured before
    const std::uint32_t* number = tree_.order + position;
    if (distance >= 0 && is_beyond(rounding_.apart(distance, tree_.distances[position]), number)) return false;
    if (has_bounds()) {
      const T bound = least(tree_.objects.at(position));
      if (bound > collector_->limit().distance) return false;
      if (bound == collector_->limit().distance && *number >= collector_->limit().index) return false;
    }
    return is_admitted(position);
  }

  __device__ void enqueue(std::uint32_t position, bool is_queued) {
    const std::uint32_t more = ballot(is_queued);
    if (is_queued) queue_.positions[queued_ + count_bits(more & ((1u << lane_number()) - 1))] = position;
    queued_ += count_bits(more);
    if (queued_ < kWarp) return;
    sync_warp();
    const std::uint32_t own = queue_.positions[lane_number()], next = queue_.positions[kWarp + lane_number()];
    sync_warp();
    queue_.positions[lane_number()] = next;
    sync_warp();
    queued_ -= kWarp;
    measure_object(own, true);
    limit_moved();
  }
  __device__ void drain() {
    sync_warp();
    const bool has_object = lane_number() < queued_;
    const std::uint32_t position = has_object ? queue_.positions[lane_number()] : 0;
    sync_warp();
    queued_ = 0;
    measure_object(position, has_object);
    collector_->settle();
    limit_moved();
  }
  __device__ void finish() {
    if (queued_ > 0) drain();
  }

  __device__ void measure_object(std::uint32_t position, bool has_object) {
    Candidate<T> candidate = last_candidate<T>();
    if (has_object) {
      const T limit = tree_.uses_bounds ? collector_->limit().distance : std::numeric_limits<T>::infinity();
      candidate.distance = space_.measure(prepared_, tree_.objects.at(position), limit);
      candidate.index = tree_.order[position];
      ++evaluations_;
    }
    collector_->offer(candidate, has_object && candidate.distance <= collector_->limit().distance);
  }

  /// All objects of a leaf have the value of its centre.
  __device__ void offer_same(std::uint32_t leaf, T value) {
    const std::uint32_t first = tree_.nodes.first[leaf], count = tree_.nodes.count[leaf];
    for (std::uint32_t at = 0; at < count; at += kWarp) {
      const std::uint32_t position = first + at + lane_number();
      Candidate<T> candidate = last_candidate<T>();
      if (at + lane_number() < count) candidate = {value, tree_.order[position]};
      const bool enters = at + lane_number() < count && candidate < collector_->limit();
      if (!any_lane(enters)) break;  // later ones have higher numbers
      const bool is_new = position - seed_first_ >= seed_end_ - seed_first_;
      const bool is_admitted = asking_.is_open || filter_.admits(asking_.number, asking_.end, candidate.index);
      collector_->offer(candidate, enters && is_new && is_admitted);
    }
    limit_moved();
  }

  const Space& space_;
  const CoverSearchTree& tree_;
  const SearchFilter& filter_;
  const std::byte* prepared_;
  CoverFrame<T>* frames_;
  CoverQueue& queue_;
  core::CoverRounding rounding_;

  Asking asking_;
  Collector* collector_ = nullptr;
  T shrink_ = 1;
  double limit_ = 0, shrunk_ = 0;  ///< as distances
  bool is_cut_ = false;
  std::uint32_t seed_first_ = 0, seed_end_ = 0;  ///< positions
  std::uint32_t queued_ = 0;
  std::uint64_t evaluations_ = 0;

  // This frame.
  double parent_ = 0;
  T parent_value_ = 0;
  std::uint32_t first_ = 0, cursor_ = 0, end_ = 0, inner_ = 0;
  T value_ = 0;
  std::uint32_t node_ = 0;
};

}  // namespace kith::cuda
