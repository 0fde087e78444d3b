// What a walk through a cover tree does with objects: those of leaves that can come before the limit are measured, 32
// at a time. cover_walk.cuh says how it fits together.
#pragma once

#include "cuda/cover_tree/search/cover_limit.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// What a walk has of shared memory besides what is prepared and the frames.
struct CoverQueue {
  alignas(16) std::byte distances[kWarp * sizeof(double)];
  std::uint32_t shifts[kWarp];
  std::uint32_t positions[3 * kWarp];
  std::uint32_t nodes[kWarp];
  std::uint32_t leaves[2 * kWarp];        ///< to be measured
  std::uint32_t ready_leaves[3 * kWarp];  ///< to be looked at, and what their centres were measured
  float ready_values[3 * kWarp];

  template <typename Distance>
  __device__ Distance* from_centres() {
    return reinterpret_cast<Distance*>(distances);
  }
};

template <typename Space, typename Collector>
class CoverObjects : public CoverLimit<Space, Collector> {
 protected:
  using Limit = CoverLimit<Space, Collector>;
  using Limit::comes_before_limit, Limit::has_bounds, Limit::is_admitted, Limit::is_beyond, Limit::is_cut_;
  using Limit::info_, Limit::collector_, Limit::filter_, Limit::head_, Limit::prepared_, Limit::rounding_;
  using Limit::kHasHeads, Limit::least, Limit::limit_moved, Limit::shrink_, Limit::space_, Limit::tree_;
  using Limit::takes_all, Limit::whole_shrunk;
  using typename Limit::Distance;

 public:
  using T = typename Space::Value;

  __device__ CoverObjects(const Space& space, const CoverSearchTree& tree, const SearchFilter& filter,
                          const std::byte* prepared, CoverQueue& queue)
      : Limit(space, tree, filter, prepared), queue_(queue) {}

  /// The query that was prepared last. `shrink` as in engine::KnnRules.
  __device__ void ask(const QueryInfo& info, Collector& collector, T shrink) {
    seed_first_ = seed_end_ = queued_ = 0;
    Limit::begin(info, collector, shrink);
  }

  /// Measures `count` objects or so from a position on, which gives a limit to begin with.
  __device__ __forceinline__ void seed_from(std::uint32_t position, std::uint32_t count) {
    seed_first_ = position;
    seed_end_ = tree_.count - position < count ? tree_.count : position + count;
    for (std::uint32_t at = seed_first_; at < seed_end_; at += kWarp) {
      const bool has_object = at + lane_number() < seed_end_;
      measure_object(has_object ? at + lane_number() : at, has_object && is_admitted(at + lane_number()));
    }
    collector_->resolve();
    limit_moved();
  }
  /// The same around a position.
  __device__ void seed_around(std::uint32_t position, std::uint32_t count) {
    const std::uint32_t before = (count / 2 < position ? position - count / 2 : 0) / kWarp * kWarp;
    seed_from(before, count);
  }

  /// Of this lane, in all walks.
  __device__ std::uint64_t evaluations() const { return evaluations_; }

 protected:
  /// Leaves of more are cut to where their objects can matter before these are looked at.
  static constexpr std::uint32_t kManyObjects = 2 * kWarp;
  static constexpr T kNotMeasured = -1;

  /// Leaves, a lane each; those that have none take part.
  __device__ __forceinline__ void look_at_leaves(bool has_leaf, std::uint32_t leaf, T value) {
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
    look_at_objects(begin, end, static_cast<Distance>(distance));
    if (queued_ > 0 && takes_all()) drain();
  }

  /// Leaves out the objects at both ends of a leaf that are too near to the centre, or too far.
  __device__ __forceinline__ void narrow(std::uint32_t& begin, std::uint32_t& end, double distance) const {
    const std::uint32_t all = end;
    const double limit = Limit::limit();
    std::uint32_t low = begin, high = all;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const double object = tree_.distances[middle];
      const bool is_too_near = object <= distance && rounding_.nearest(distance, object) > limit;
      (is_too_near ? low : high) = is_too_near ? middle + 1 : middle;
    }
    begin = low;
    high = all;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const double object = tree_.distances[middle];
      const bool is_too_far = object > distance && rounding_.nearest(object, distance) > limit;
      (is_too_far ? high : low) = is_too_far ? middle : middle + 1;
    }
    end = low;
  }

  /// The objects of all lanes' ranges, 32 at a time. `distance`: from the query to the centre of the leaf; below 0:
  /// unknown.
  __device__ __forceinline__ void look_at_objects(std::uint32_t begin, std::uint32_t end, Distance distance) {
    // Of long ranges all but the last objects, or all, one range after the other.
    for (std::uint32_t ranges = ballot(end - begin >= kWarp); ranges != 0; ranges &= ranges - 1) {
      const std::uint32_t lane = lowest_bit(ranges), last = shuffle(end, lane);
      const Distance from_centre = shuffle(distance, lane);
      std::uint32_t at = shuffle(begin, lane);
      for (; at + kWarp <= last; at += 2 * kWarp) {
        const std::uint32_t one = at + lane_number(), other = one + kWarp;
        const bool is_there = other < last;
        look_at_two({one, from_centre, true}, {is_there ? other : one, from_centre, is_there});
      }
      if (lane == lane_number()) begin = at < last ? at : last;
    }
    std::uint32_t sum = end - begin;  // of this lane and those before
#pragma unroll
    for (std::uint32_t step = 1; step < kWarp; step *= 2) {
      const std::uint32_t before = shuffle_up(sum, step);
      if (lane_number() >= step) sum += before;
    }
    const std::uint32_t total = shuffle(sum, kWarp - 1);
    if (total == 0) return;
    // Ranges that have objects, one after the other: where to find objects numbered among all.
    const bool has_objects = begin < end;
    const std::uint32_t start = has_objects ? sum - (end - begin) : kNoPoint;
    const std::uint32_t place = count_bits(ballot(has_objects) & ((1u << lane_number()) - 1));
    sync_warp();
    if (has_objects) {
      queue_.shifts[place] = end - sum;
      queue_.template from_centres<Distance>()[place] = distance;
    }
    sync_warp();
    std::uint32_t ranges = 0;  // that began before
    for (std::uint32_t at = 0; at < total; at += 2 * kWarp) {
      const Looked one = located(at, total, start, ranges);
      const Looked other = located(at + kWarp, total, start, ranges);
      look_at_two(one, other);
    }
  }

  /// An object that a lane looks at, if there is one; otherwise any.
  struct Looked {
    std::uint32_t position;
    Distance from_centre;
    bool is_there;
  };
  /// Both are loaded before either is done with.
  __device__ __forceinline__ void look_at_two(const Looked& one, const Looked& other) {
    bool one_matters = false, other_matters = false;
    if constexpr (kHasHeads) {
      const CoverHead one_head = tree_.object_heads[one.position], other_head = tree_.object_heads[other.position];
      const std::int32_t one_bound = head_.least(one_head, one.from_centre, tree_.uses_bounds);
      const std::int32_t other_bound = head_.least(other_head, other.from_centre, tree_.uses_bounds);
      one_matters = comes_before_limit(one_bound, one_head.first);
      other_matters = comes_before_limit(other_bound, other_head.first);
      if (!any_lane(one_matters || other_matters)) return;
      one_matters = one_matters && is_wanted(one, one_bound);
      other_matters = other_matters && is_wanted(other, other_bound);
    } else {
      one_matters = may_matter(one);
      other_matters = may_matter(other);
    }
    enqueue(one.position, one_matters);
    enqueue(other.position, other_matters);
    measure_queued();
  }
  /// What is seldom asked: after the bound.
  __device__ __forceinline__ bool is_wanted(const Looked& looked, std::int32_t bound) {
    if (!looked.is_there || was_seeded(looked.position)) return false;
    if (shrink_ != 1 && bound > whole_shrunk()) {
      is_cut_ = true;
      return false;
    }
    return is_admitted(looked.position);
  }
  __device__ bool was_seeded(std::uint32_t position) const { return position - seed_first_ < seed_end_ - seed_first_; }
  /// Object at + lane of all ranges. The first objects of ranges are bits of a word: as many as there are up to this
  /// lane, so many ranges began.
  __device__ __forceinline__ Looked located(std::uint32_t at, std::uint32_t total, std::uint32_t start,
                                            std::uint32_t& ranges) const {
    const std::uint32_t object = at + lane_number(), offset = start - at;
    const std::uint32_t starts = sum_of_warp(offset < kWarp ? 1u << offset : 0u);
    const std::uint32_t began = ranges + count_bits(starts & ((2u << lane_number()) - 1));
    ranges = shuffle(began, kWarp - 1);
    const bool is_there = object < total;
    return {is_there ? object + queue_.shifts[began - 1] : 0, queue_.template from_centres<Distance>()[began - 1],
            is_there};
  }

  __device__ bool may_matter(const Looked& looked) {
    const auto [position, distance, is_there] = looked;
    if (!is_there || was_seeded(position)) return false;
    const std::uint32_t* number = tree_.order + position;
    if (distance >= 0 && is_beyond(rounding_.apart(distance, tree_.distances[position]), number)) return false;
    if (has_bounds()) {
      const T bound = least(tree_.objects.at(position));
      if (bound > collector_->limit().distance) return false;
      if (bound == collector_->limit().distance && *number >= collector_->limit().index) return false;
    }
    return is_admitted(position);
  }

  __device__ __forceinline__ void enqueue(std::uint32_t position, bool is_queued) {
    const std::uint32_t more = ballot(is_queued);
    if (is_queued) queue_.positions[queued_ + count_bits(more & ((1u << lane_number()) - 1))] = position;
    queued_ += count_bits(more);
  }
  /// Until fewer than 32 wait.
  __device__ __forceinline__ void measure_queued() {
    while (queued_ >= kWarp) {
      queued_ -= kWarp;
      sync_warp();
      const std::uint32_t own = queue_.positions[queued_ + lane_number()];
      sync_warp();
      measure_object(own, true);
      limit_moved();
    }
  }
  __device__ __forceinline__ void drain() {
    sync_warp();
    const bool has_object = lane_number() < queued_;
    const std::uint32_t position = has_object ? queue_.positions[lane_number()] : 0;
    sync_warp();
    queued_ = 0;
    measure_object(position, has_object);
    collector_->resolve();
    limit_moved();
  }
  __device__ void finish() {
    if (queued_ > 0) drain();
  }

  __device__ __forceinline__ void measure_object(std::uint32_t position, bool has_object) {
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
  __device__ __forceinline__ void offer_same(std::uint32_t leaf, T value) {
    const std::uint32_t first = tree_.nodes.first[leaf], count = tree_.nodes.count[leaf];
    for (std::uint32_t at = 0; at < count; at += kWarp) {
      const std::uint32_t position = first + at + lane_number();
      Candidate<T> candidate = last_candidate<T>();
      if (at + lane_number() < count) candidate = {value, tree_.order[position]};
      const bool enters = at + lane_number() < count && candidate < collector_->limit();
      if (!any_lane(enters)) break;  // later ones have higher numbers
      const bool is_new = !was_seeded(position);
      const bool is_allowed = info_.is_open || filter_.admits(info_.number, info_.end, candidate.index);
      collector_->offer(candidate, enters && is_new && is_allowed);
    }
    limit_moved();
  }

  CoverQueue& queue_;
  std::uint32_t seed_first_ = 0, seed_end_ = 0;  ///< positions
  std::uint32_t queued_ = 0;
  std::uint64_t evaluations_ = 0;
};

}  // namespace kith::cuda
