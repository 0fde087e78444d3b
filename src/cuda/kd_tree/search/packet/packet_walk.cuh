// What every search by packets does: a warp walks the tree once for all queries of a packet, and pairs queries with
// leaves that may hold something for them.
//
// The tree is walked from the packet's own bottom node outward: a lane looks at a node. Each query is then compared
// with each leaf that the packet reaches; what is near enough becomes a pair. What becomes of pairs is the search's
// business.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/kd_tree/search/packet/leaf_box.cuh"
#include "cuda/kd_tree/search/packet/packet_points.cuh"
#include "cuda/kd_tree/search/packet/packet_storage.cuh"
#include "cuda/kd_tree/search/warp/load_box.cuh"

#include <cstdint>

namespace kith::cuda {

/// `Search` is the search itself. It has work_off(is_last), which takes the pairs that wait, all of them at last;
/// empties_history(), which makes room for more leaves, or returns false: then the walk ends; kShrinks: whether radii
/// shrink when something is found; kNamesPairedOnly: if true, leaves that no query pairs with get no name: packets with
/// wide reach go farther, at a few instructions a leaf; and kSkipsCopies: copies of one point lie in leaves side by
/// side, by ascending number, and if true, of those leaves only leaves_of_wanted() are looked at, the first ones.
///
/// kIsGeneral: axes may be periodic, and of the points only those count that the search admits(owner, number).
template <typename T, std::uint32_t kDims, typename Search, std::uint32_t kLeaves = 256>
class PacketWalk : protected PacketPoints<T, kDims, Search, kLeaves> {
 protected:
  using Points = PacketPoints<T, kDims, Search, kLeaves>;
  using Queries = typename Points::Queries;
  using Points::lengths_, Points::most_, Points::storage_;
  using Queries::is_there_, Queries::leaf_, Queries::lower_, Queries::query_, Queries::tree_, Queries::upper_;
  using typename Points::Storage, typename Queries::Point;
  static constexpr std::uint32_t kMostSeen = 8 * kLeaves;  ///< leaves, if not all of them get names
  __device__ PacketWalk(const SearchTree<T>& tree, const QuerySource<T>& source, std::uint32_t packets_per_node,
                        Storage& storage)
      : Points(tree, source, packets_per_node, storage), wide_(tree.wide) {}

  /// The query looks up to this reduced distance, and no query of the packet farther than `reach`; before the walk.
  __device__ void begin_with(T radius, T reach) {
    reach_ = reach;
    sync_warp();  // the packet before is done with the storage
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) storage_.queries[d][lane_number()] = query_[d];
    own_radius() = is_there_ ? radius : T(-1);
    storage_.counts[lane_number()] = 0;
    if (lane_number() == 0) storage_.history[0] = 0;  // read, without effect, if there is no leaf in reach
    leaves_ = pairs_ = seen_ = 0;
    sync_warp();
  }

  /// This lane's query looks up to here.
  __device__ T& own_radius() { return storage_.queries[kDims][lane_number()]; }

  /// The same where each query has a reduced distance of its own.
  __device__ void begin_with_own(T radius) {
    begin_with(radius, radius);
    reach_ = own_radius();
#pragma unroll
    for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) reach_ = greater(reach_, shuffle_xor(reach_, step));
  }

  // --- the walk ---

  /// The least reduced distance between the packet and a box.
  __device__ T between(const T (&box)[2 * kDims]) const {
    T span[2 * kDims];
    load_box<T, kDims>(storage_.span, span);
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T below = box[d] - span[kDims + d], above = span[d] - box[kDims + d];
      T gap = greater(greater(below, above), T(0));
      if constexpr (Search::kIsGeneral) {  // as shorter_way_to_interval, from all of the span
        const T farthest = greater(box[kDims + d] - span[d], span[kDims + d] - box[d]);
        const T around = lengths_[d] - farthest;
        gap = around < gap ? around : gap;
      }
      sum = core::step_of_gap(core::L2{}, sum, gap);
    }
    return sum;
  }

  // --- copies of one point ---

  /// Whether the leaves before a leaf hold as many points as a query wants, at the one place where it, or a node that
  /// begins with it, has all its points: they have lesser numbers.
  __device__ bool is_repeated(std::uint64_t leaf, const T (&box)[2 * kDims]) const {
    bool is_same = true;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) is_same = is_same && box[d] == box[kDims + d];
    const std::uint32_t leaves = derived().leaves_of_wanted();
    if (!is_same || leaf < leaves) return false;
#pragma unroll 1
    for (std::uint32_t i = 1; is_same && i <= leaves; ++i) {
      T before[2 * kDims];
      load_box<T, kDims>(tree_.lower(core::KdGeometry::node(tree_.geometry.levels, leaf - i)), before);
#pragma unroll
      for (std::uint32_t d = 0; d < 2 * kDims; ++d) is_same = is_same && before[d] == box[d % kDims];
    }
    return is_same;
  }

  __device__ std::uint32_t children_within(std::uint32_t depth, std::uint32_t group) {
    bool is_within = lane_number() < wide_.children(depth);
    if (is_within) {
      const std::uint64_t node =
          core::KdGeometry::node(wide_.child_level(depth), std::uint64_t{group} * kWarp + lane_number());
      T box[2 * kDims];
      load_box<T, kDims>(tree_.lower(node), box);
      is_within = between(box) <= reach_;
      if constexpr (Search::kSkipsCopies) {
        const std::uint32_t below = tree_.geometry.levels - wide_.child_level(depth);
        is_within = is_within && !is_repeated((std::uint64_t{group} * kWarp + lane_number()) << below, box);
      }
    }
    return ballot(is_within);
  }

  /// To the bottom node of leaf_, with the packet that lower_ and upper_ span.
  __device__ void start_at_own_bottom() {
    bottom_ = static_cast<std::uint32_t>(leaf_ / kWarp);
    if (lane_number() == 0) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        storage_.span[d] = lower_[d];
        storage_.span[kDims + d] = upper_[d];
      }
      const auto last = static_cast<std::uint8_t>(wide_.last);
      const auto own_leaf = static_cast<std::uint16_t>(leaf_ % kWarp);
      storage_.place =
          PacketPlace{.own = bottom_, .group = bottom_, .left = 0, .top = last, .depth = last, .own_leaf = own_leaf};
    }
    sync_warp();
  }

  /// From the own bottom node upward, and down to every other one in reach. False if there are too many leaves.
  __device__ __forceinline__ bool walk() {
    constexpr std::uint32_t kWaiting = Search::kShrinks ? 2 * kWarp : Storage::kPairs;  // soon, if that spares others
    start_at_own_bottom();
    for (bool is_last = false;;) {  // a last round without leaves
      std::uint32_t count = 0;
      if (!is_last && !look_at_node(count)) return false;
      const std::uint32_t first = leaves_;
      for (std::uint32_t j = 0;;) {
        if (j == count || pairs_ > kWaiting) derived().work_off(is_last);
        if (j == count) break;
        T query[kDims];  // out of shared memory: query_ takes registers only if it is used after the walk
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) query[d] = storage_.queries[d][lane_number()];
        const T within = near_enough(own_radius());
        if (j + Storage::kLeavesAtOnce <= count) {
          pair_with_leaves<Storage::kLeavesAtOnce>(query, within, first, j);
          j += Storage::kLeavesAtOnce;
        } else {
#pragma unroll 1
          for (; j < count; ++j) pair_with_leaves<1>(query, within, first, j);
        }
      }
      if (is_last) return true;
      if constexpr (Search::kShrinks) reach_ = farthest_of_warp(own_radius());
      is_last = !find_next_bottom();
    }
  }

  /// The greatest of the lanes' radii; those without a query have a negative one.
  __device__ static float farthest_of_warp(float radius) {
    return std::bit_cast<float>(max_of_warp(std::bit_cast<std::uint32_t>(greater(radius, 0.0f))));
  }
  __device__ static double farthest_of_warp(double radius) {
#pragma unroll
    for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) radius = greater(radius, shuffle_xor(radius, step));
    return radius;
  }

  /// Sets bottom_ to the next bottom node in reach; false if there is none.
  __device__ bool find_next_bottom() {
    const PacketPlace from = storage_.place;
    std::uint32_t top = from.top, depth = from.depth, group = from.group, left = from.left;
    while (left == 0 || depth + 1 != wide_.last) {
      std::uint32_t passed = 0;  // a child that is done
      if (left != 0) {
        if (lane_number() == 0) storage_.left_at[depth] = left & (left - 1);
        group = group * kWarp + lowest_bit(left);
        ++depth;
      } else if (depth > top) {
        --depth;
        group /= kWarp;
        sync_warp();
        left = storage_.left_at[depth];
        sync_warp();  // before it is written again
        continue;
      } else {
        if (top == 0) return false;
        depth = --top;
        group = from.own >> (WideTree::kStep * (wide_.last - top));
        passed = 1u << (from.own >> (WideTree::kStep * (wide_.last - top - 1)) & (kWarp - 1));
      }
      left = children_within(depth, group) & ~passed;
    }
    bottom_ = group * kWarp + lowest_bit(left);
    left &= left - 1;
    sync_warp();
    if (lane_number() == 0) {
      storage_.place = PacketPlace{.own = from.own,
                                   .group = group,
                                   .left = left,
                                   .top = static_cast<std::uint8_t>(top),
                                   .depth = static_cast<std::uint8_t>(depth),
                                   .own_leaf = from.own_leaf};
    }
    sync_warp();
    return true;
  }

  /// Puts the leaves of a bottom node that the packet reaches into the storage. False if there are too many.
  __device__ bool look_at_node(std::uint32_t& count) {
    const core::KdGeometry& geometry = tree_.geometry;
    // The own leaf first, then its sibling, and so on: radii shrink by what is near.
    const std::uint64_t leaf = std::uint64_t{bottom_} * kWarp + (lane_number() ^ storage_.place.own_leaf);
    T box[2 * kDims];
    load_box<T, kDims>(tree_.lower(core::KdGeometry::node(geometry.levels, leaf)), box);
    bool is_within = between(box) <= reach_;
    if constexpr (Search::kSkipsCopies) is_within = is_within && !is_repeated(leaf, box);
    const std::uint32_t within = ballot(is_within);
    count = count_bits(within);
    if (leaves_ + count > Storage::kHistory && !derived().empties_history()) return false;
    seen_ += count;
    if (Search::kNamesPairedOnly && seen_ > kMostSeen) return false;
    if (is_within) {
      const std::uint32_t at = count_bits(within & below_);
      const std::uint64_t first = geometry.first(geometry.levels, leaf);
      const bool is_short = geometry.first(geometry.levels, leaf + 1) - first < most_;
      if constexpr (Search::kIsGeneral) {
#pragma unroll
        for (std::uint32_t i = 0; i < 2 * kDims; ++i) storage_.boxes[at][i] = box[i];
      } else {
        make_leaf_box<T, kDims>(box, storage_.boxes[at]);
      }
      storage_.history[leaves_ + at] = static_cast<std::uint32_t>(first) | (is_short ? 0x80000000u : 0);
    }
    sync_warp();
    return true;
  }

  /// The leaves from j on of those that look_at_node has put down from `first` on, and the queries that they may be
  /// near: up to `within`.
  template <std::uint32_t kCount>
  __device__ __forceinline__ void pair_with_leaves(const T (&query)[kDims], T within, std::uint32_t first,
                                                   std::uint32_t j) {
    bool is_pair[kCount];
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      T leaf[2 * kDims];
      load_box<T, kDims>(storage_.boxes[j + i], leaf);
      is_pair[i] = to_leaf(query, leaf) <= within;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint32_t all = ballot(is_pair[i]);
      std::uint16_t* to = storage_.pairs + pairs_ + count_bits(all & below_);
      const auto pair = static_cast<std::uint16_t>(leaves_ * kPacketQueries + lane_number());
      if (is_pair[i]) *to = pair;
      pairs_ += count_bits(all);
      if constexpr (Search::kNamesPairedOnly) {
        if (lane_number() == 0)
          storage_.history[leaves_] = storage_.history[first + j + i];  // not before it: none is lost
        leaves_ += all == 0 ? 0 : 1;
      } else {
        ++leaves_;
      }
    }
  }

  /// About the least reduced distance between a query and a leaf.
  __device__ __forceinline__ T to_leaf(const T (&query)[kDims], const T (&leaf)[2 * kDims]) const {
    if constexpr (!Search::kIsGeneral) return to_leaf_box<T, kDims>(query, leaf);
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      sum = core::step_of_gap(core::L2{}, sum,
                              core::shorter_way_to_interval(query[d], leaf[d], leaf[kDims + d], lengths_[d]));
    }
    return sum;
  }

  /// Each lane takes a pair, 32 at a time, at last the rest too: take(pair) has no barriers of the warp.
  template <typename Take>
  __device__ __forceinline__ void take_pairs(bool is_last, const Take& take) {
    std::uint32_t first = 0;
    sync_warp();
    for (; is_last ? first < pairs_ : first + kWarp <= pairs_; first += kWarp) {
      if (first + lane_number() < pairs_) take(std::uint32_t{storage_.pairs[first + lane_number()]});
    }
    sync_warp();
    if (is_last) {
      pairs_ = 0;
    } else {
      keep_pairs_from(first);
    }
  }

  /// What is left of the pairs after the first `done` moves to the front.
  __device__ void keep_pairs_from(std::uint32_t done) {
    const std::uint32_t rest = pairs_ - done;
    if (done > 0 && rest > 0) {
      const std::uint16_t pair = lane_number() < rest ? storage_.pairs[done + lane_number()] : 0;
      sync_warp();
      if (lane_number() < rest) storage_.pairs[lane_number()] = pair;
    }
    pairs_ = rest;
    sync_warp();
  }

  /// PacketPoints::measure_points of this search.
  template <typename Found>
  __device__ __forceinline__ void measure_points(std::uint32_t pair, const Found& found) const {
    Points::measure_points(pair, derived(), found);
  }

  std::uint32_t below_ = (1u << lane_number()) - 1;  ///< the lanes before this one
  const WideTree& wide_;

  T reach_ = 0;               ///< no query of the packet looks farther
  std::uint32_t leaves_ = 0;  ///< in the history
  std::uint32_t seen_ = 0;    ///< leaves in the packet's reach
  std::uint32_t pairs_ = 0;   ///< that wait

 private:
  __device__ Search& derived() { return static_cast<Search&>(*this); }
  __device__ const Search& derived() const { return static_cast<const Search&>(*this); }

  std::uint32_t bottom_ = 0;  ///< the bottom node that is looked at
};

}  // namespace kith::cuda
