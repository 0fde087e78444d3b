// What every search by packets does: a warp takes 32 queries that lie close together, each for a lane, walks the tree
// once for all of them, and pairs queries with leaves that may hold something for them.
//
// The tree is walked from the packet's own bottom node outward: a lane looks at a node. Each query is then compared
// with each leaf that the packet reaches; what is near enough becomes a pair. What becomes of pairs is the search's
// business.
#pragma once

#include "core/chain.hpp"
#include "cuda/kd_tree/search/candidate_warp.cuh"
#include "cuda/kd_tree/search/load_box.cuh"
#include "cuda/kd_tree/search/nearest_walk.cuh"
#include "cuda/kd_tree/search/packet_types.hpp"
#include "cuda/kd_tree/search/query_warp.cuh"
#include "cuda/kd_tree/search/wide_tree.hpp"

#include <bit>

namespace kith::cuda {

/// Warps of a block; each has its own packet.
inline constexpr std::uint32_t kPacketWarps = 2;

/// What the walk of a packet has in shared memory.
template <typename T, std::uint32_t kDims>
struct PacketWalkRoom {
  static constexpr std::uint32_t kHistory = 256;  ///< leaves that have names
  static constexpr std::uint32_t kPairs = 512;    ///< as many are worked off before more come

  alignas(16) T boxes[kPacketQueries][2 * kDims];  ///< of the leaves that are looked at now
  T queries[kDims + 1][kPacketQueries];            ///< coordinates, then the chain up to which a query looks
  std::uint32_t counts[kPacketQueries];            ///< what each query has in its buffer
  std::uint32_t history[kHistory];  ///< the place of the first point of each leaf seen; top bit: one point fewer
  std::uint16_t pairs[kPairs + 2 * kPacketQueries];  ///< history << 5 | query
};

/// `Search` is the search itself. It has work_off(is_last), which takes the pairs that wait, all of them at last; and
/// empties_history(), which makes room for more leaves, or returns false: then the walk ends.
template <typename T, std::uint32_t kDims, typename Search>
class PacketWalk {
 protected:
  using Room = PacketWalkRoom<T, kDims>;
  static constexpr std::uint32_t kAtOnce = 4;  ///< points that a lane looks at together

  __device__ PacketWalk(const SearchTree<T>& tree, const QuerySource<T>& source, std::uint32_t packets_per_node,
                        Room& room)
      : tree_(tree),
        source_(source),
        packets_per_node_(packets_per_node),
        room_(room),
        wide_(tree.geometry.levels),
        most_(static_cast<std::uint32_t>(tree.geometry.most_per_leaf())) {}

  // --- the queries ---

  /// False if there are none.
  __device__ __forceinline__ bool load_queries(std::uint32_t packet) {
    if (packets_per_node_ > 0) return load_points(packet);
    const std::uint64_t first = std::uint64_t{packet} * kPacketQueries, all = queries_of(source_);
    if (first >= all) return false;
    is_there_ = first + lane_number() < all;
    const std::uint64_t own = is_there_ ? first + lane_number() : all - 1;
    chosen_ = source_.chosen == nullptr ? static_cast<std::uint32_t>(own) : source_.chosen[own];
    if (source_.rows == nullptr) {
      leaf_ = tree_.leaf_of_place(chosen_);
      load_point(tree_.leaf(leaf_),
                 static_cast<std::uint32_t>(chosen_ - tree_.geometry.first(tree_.geometry.levels, leaf_)));
    } else {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) query_[d] = source_.rows[chosen_ * source_.row_stride + d];
      number_ = kNoNumber;
      row_ = chosen_;
    }
    return true;
  }

  /// A part of the points of a bottom node. Its leaves are taken in the order of Gray's code: neighbours in it lie on
  /// two sides of one split, so packets are compact.
  __device__ __forceinline__ bool load_points(std::uint32_t packet) {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint32_t node = packet / packets_per_node_, part = packet % packets_per_node_;
    const std::uint64_t lane_leaf = std::uint64_t{node} * kWarp + gray(lane_number());
    const auto place = static_cast<std::uint32_t>(geometry.first(geometry.levels, lane_leaf));
    const std::uint32_t count = static_cast<std::uint32_t>(geometry.first(geometry.levels, lane_leaf + 1)) - place;
    std::uint32_t sum = count;  // of the leaves up to this lane's
#pragma unroll
    for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
      const std::uint32_t before = shuffle_up(sum, delta);
      if (lane_number() >= delta) sum += before;
    }
    const std::uint32_t size = shuffle(sum, kWarp - 1);
    std::uint32_t first = part * size / packets_per_node_, end = (part + 1) * size / packets_per_node_;
    if (packets_per_node_ == kWarp / 2) {  // two leaves each
      first = shuffle(sum - count, 2 * part);
      end = shuffle(sum, 2 * part + 1);
    }
    if (first >= end) return false;
    is_there_ = first + lane_number() < end;
    const std::uint32_t own = is_there_ ? first + lane_number() : end - 1;
    std::uint32_t at = 0;  // the lane with the query's leaf
#pragma unroll
    for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
      if (shuffle(sum, at + step - 1) <= own) at += step;
    }
    const std::uint32_t slot = own - shuffle(sum - count, at);
    chosen_ = shuffle(place, at) + slot;
    leaf_ = std::uint64_t{node} * kWarp + gray(at);
    SearchLeaf<T> leaf;
    leaf.count = shuffle(count, at);
    leaf.values = reinterpret_cast<const T*>(tree_.blocks + std::uint64_t{chosen_ - slot} * tree_.point_bytes);
    leaf.numbers = reinterpret_cast<const std::uint32_t*>(leaf.values + kDims * leaf.count);
    load_point(leaf, slot);
    return true;
  }
  __device__ static std::uint32_t gray(std::uint32_t i) { return i ^ (i >> 1); }

  __device__ void load_point(const SearchLeaf<T>& leaf, std::uint32_t slot) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query_[d] = leaf.values[d * leaf.count + slot];
    number_ = leaf.numbers[slot];
    row_ = number_ - source_.first;
  }

  /// x * reciprocal >> 16 is x / most for so few x as there are points in a bottom node.
  __device__ std::uint32_t reciprocal() const { return 65536 / most_ + 1; }

  __device__ std::uint64_t near_leaf_of(const T (&row)[kDims]) const {
    std::uint64_t node = 0;
    for (std::uint32_t level = 0; level < tree_.geometry.levels; ++level) {
      const std::uint32_t split_dim = tree_.split_dims[node];
      T value = row[0];
#pragma unroll
      for (std::uint32_t d = 1; d < kDims; ++d) value = split_dim == d ? row[d] : value;
      node = 2 * node + 1 + (value < tree_.split_values[node] ? 0 : 1);
    }
    return node - (tree_.geometry.leaves() - 1);
  }

  __device__ void span_packet() {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      lower_[d] = upper_[d] = query_[d];
#pragma unroll
      for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
        lower_[d] = lesser(lower_[d], shuffle_xor(lower_[d], step));
        upper_[d] = greater(upper_[d], shuffle_xor(upper_[d], step));
      }
    }
    // The query nearest to the middle of the box, and its leaf: there the walk begins.
    T from_middle = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      from_middle = core::L2Chain{}.step(from_middle, T(query_[d] - (lower_[d] / 2 + upper_[d] / 2)));
    }
    const std::uint32_t order = rough_order(from_middle);
    middle_ = lowest_bit(ballot(order == min_of_warp(order)));
    if (source_.rows == nullptr) {
      leaf_ = shuffle(leaf_, middle_);
    } else {
      T row[kDims];
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) row[d] = shuffle(query_[d], middle_);
      leaf_ = near_leaf_of(row);
    }
  }

  /// Every query looks up to this chain; before the walk.
  __device__ void begin_with(T radius) {
    reach_ = radius;
    radius_ = is_there_ ? radius : T(-1);
    sync_warp();  // the packet before is done with the room
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) room_.queries[d][lane_number()] = query_[d];
    room_.queries[kDims][lane_number()] = radius_;
    room_.counts[lane_number()] = 0;
    leaves_ = pairs_ = 0;
    sync_warp();
  }

  /// The same where each query has a chain of its own.
  __device__ void begin_with_own(T radius) {
    begin_with(radius);
    reach_ = radius_;
#pragma unroll
    for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) reach_ = greater(reach_, shuffle_xor(reach_, step));
  }

  // --- the walk ---

  /// The least chain between the packet and a box.
  __device__ T between(const T (&box)[2 * kDims]) const {
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T below = box[d] - upper_[d], above = lower_[d] - box[kDims + d];
      sum = core::L2Chain{}.step(sum, greater(greater(below, above), T(0)));
    }
    return sum;
  }
  /// The same from this lane's query.
  __device__ T to_box(const T (&box)[2 * kDims]) const {
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T below = box[d] - query_[d], above = query_[d] - box[kDims + d];
      sum = core::L2Chain{}.step(sum, greater(greater(below, above), T(0)));
    }
    return sum;
  }

  __device__ std::uint32_t children_within(std::uint32_t depth, std::uint32_t group) {
    bool is_within = lane_number() < wide_.children(depth);
    if (is_within) {
      const std::uint64_t node =
          core::KdGeometry::node(wide_.child_level(depth), std::uint64_t{group} * kWarp + lane_number());
      T box[2 * kDims];
      load_box<T, kDims>(tree_.lower(node), box);
      is_within = between(box) <= reach_;
    }
    return ballot(is_within);
  }

  /// From the own bottom node upward, and down to every other one in reach. False if there are too many leaves.
  __device__ __forceinline__ bool walk() {
    own_ = bottom_ = static_cast<std::uint32_t>(leaf_ / kWarp);
    top_ = depth_ = wide_.last;
    group_ = own_;
    left_ = masks_ = 0;
    for (bool is_last = false;;) {  // a last round without leaves
      std::uint32_t count = 0;
      if (!is_last && !look_at_node(count)) return false;
      for (std::uint32_t j = 0;; ++j) {
        if (j == count || pairs_ > Room::kPairs) derived().work_off(is_last);
        if (j == count) break;
        pair_with_leaf(j);
      }
      leaves_ += count;
      if (is_last) return true;
      is_last = !find_next_bottom();
    }
  }

  /// Sets bottom_ to the next bottom node in reach; false if there is none.
  __device__ bool find_next_bottom() {
    for (;;) {
      if (left_ == 0) {
        if (depth_ == top_) {
          if (top_ == 0) return false;
          --top_;
          depth_ = top_;
          group_ = own_ >> (WideTree::kStep * (wide_.last - top_));
          const std::uint32_t from = own_ >> (WideTree::kStep * (wide_.last - top_ - 1)) & (kWarp - 1);
          left_ = children_within(depth_, group_) & ~(1u << from);
        } else {
          --depth_;
          group_ /= kWarp;
          left_ = shuffle(masks_, depth_);
        }
        continue;
      }
      const std::uint32_t child = group_ * kWarp + lowest_bit(left_);
      left_ &= left_ - 1;
      if (depth_ + 1 == wide_.last) {
        bottom_ = child;
        return true;
      }
      if (lane_number() == depth_) masks_ = left_;
      ++depth_;
      group_ = child;
      left_ = children_within(depth_, group_);
    }
  }

  /// Puts the leaves of a bottom node that the packet reaches into the room. False if there are too many.
  __device__ bool look_at_node(std::uint32_t& count) {
    const core::KdGeometry& geometry = tree_.geometry;
    const std::uint64_t leaf = std::uint64_t{bottom_} * kWarp + lane_number();
    T box[2 * kDims];
    load_box<T, kDims>(tree_.lower(core::KdGeometry::node(geometry.levels, leaf)), box);
    const bool is_within = between(box) <= reach_;
    const std::uint32_t within = ballot(is_within);
    count = count_bits(within);
    if (leaves_ + count > Room::kHistory && !derived().empties_history()) return false;
    if (is_within) {
      const std::uint32_t at = count_bits(within & ((1u << lane_number()) - 1));
      const std::uint64_t first = geometry.first(geometry.levels, leaf);
      const bool is_short = geometry.first(geometry.levels, leaf + 1) - first < most_;
#pragma unroll
      for (std::uint32_t i = 0; i < 2 * kDims; ++i) room_.boxes[at][i] = box[i];
      room_.history[leaves_ + at] = static_cast<std::uint32_t>(first) | (is_short ? 0x80000000u : 0);
    }
    sync_warp();
    return true;
  }

  /// Leaf j of those that look_at_node has found, and the queries that it may be near.
  __device__ void pair_with_leaf(std::uint32_t j) {
    T box[2 * kDims];
    load_box<T, kDims>(room_.boxes[j], box);
    const bool is_pair = to_box(box) <= radius_;
    const std::uint32_t all = ballot(is_pair);
    if (is_pair) {
      room_.pairs[pairs_ + count_bits(all & ((1u << lane_number()) - 1))] =
          static_cast<std::uint16_t>((leaves_ + j) << 5 | lane_number());
    }
    pairs_ += count_bits(all);
  }

  /// Bits that name a point of a leaf.
  __device__ static constexpr std::uint32_t point_bits() { return kNameBits - 8; }

  /// What is left of the pairs after the first `done` moves to the front.
  __device__ void keep_pairs_from(std::uint32_t done) {
    const std::uint32_t rest = pairs_ - done;
    if (done > 0 && rest > 0) {
      const std::uint16_t pair = lane_number() < rest ? room_.pairs[done + lane_number()] : 0;
      sync_warp();
      if (lane_number() < rest) room_.pairs[lane_number()] = pair;
    }
    pairs_ = rest;
    sync_warp();
  }

  // --- points ---

  /// The points of a leaf, by the bits of their places in it.
  __device__ const T* points_of(std::uint32_t seen, std::uint32_t& count) const {
    const std::uint32_t place = room_.history[seen];
    count = most_ - (place >> 31);
    return reinterpret_cast<const T*>(tree_.blocks + std::uint64_t{place & 0x7fffffff} * tree_.point_bytes);
  }

  /// Which points of the pair's leaf are within the radius of its query: a bit each, the last one lowest.
  __device__ __forceinline__ std::uint32_t points_within(std::uint32_t pair) const {
    const std::uint32_t asking = pair & 31;
    std::uint32_t count = 0;
    const T* columns[kDims];
    columns[0] = points_of(pair >> 5, count);
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      query[d] = room_.queries[d][asking];
      columns[d] = columns[0] + d * count;
    }
    const T radius = room_.queries[kDims][asking];
    std::uint32_t within = 0;
    for (std::uint32_t i = 0; i < most_; i += kAtOnce) {  // a few too many, in what follows the column
#pragma unroll
      for (std::uint32_t j = 0; j < kAtOnce; ++j) {
        T sum = T(0);
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) sum = core::L2Chain{}.step(sum, T(query[d] - columns[d][j]));
        within = append_within(within, sum, radius);
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) columns[d] += kAtOnce;
    }
    return within >> (scanned() - count) << (scanned() - count);
  }
  /// Points that points_within looks at.
  __device__ std::uint32_t scanned() const { return (most_ + kAtOnce - 1) / kAtOnce * kAtOnce; }

  /// 2 * bits, and one more if sum <= radius; neither is negative.
  __device__ static std::uint32_t append_within(std::uint32_t bits, float sum, float radius) {
    return add_with_carry(bits, bits, std::bit_cast<std::uint32_t>(radius) + 1, ~std::bit_cast<std::uint32_t>(sum));
  }
  __device__ static std::uint32_t append_within(std::uint32_t bits, double sum, double radius) {
    return 2 * bits + (sum <= radius ? 1 : 0);
  }

  /// The point of a name, as seen from a query.
  __device__ Candidate<T> look_up(std::uint32_t name, const T (&query)[kDims]) const {
    const std::uint32_t at = name & ((1u << point_bits()) - 1);
    std::uint32_t count = 0;
    const T* values = points_of(name >> point_bits(), count);
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) sum = core::L2Chain{}.step(sum, T(query[d] - values[d * count + at]));
    return {sum, reinterpret_cast<const std::uint32_t*>(values + kDims * count)[at]};
  }

  /// Puts down the lanes' queries for another search.
  __device__ void hand_on(bool is_handed_on, std::uint32_t* to, std::uint32_t* count) {
    const std::uint32_t all = ballot(is_handed_on);
    if (all == 0) return;
    std::uint32_t at = lane_number() == 0 ? atomic_add(count, count_bits(all)) : 0;
    at = shuffle(at, 0) + count_bits(all & ((1u << lane_number()) - 1));
    if (is_handed_on) to[at] = chosen_;
  }

  const SearchTree<T>& tree_;
  const QuerySource<T>& source_;
  std::uint32_t packets_per_node_;
  Room& room_;
  WideTree wide_;
  std::uint32_t most_;  ///< points of a leaf; some have one fewer

  // the packet
  std::uint32_t middle_ = 0;  ///< the lane whose query is in its midst
  std::uint64_t leaf_ = 0;    ///< of that query
  T lower_[kDims], upper_[kDims];
  T reach_ = 0;               ///< no query looks farther
  std::uint32_t leaves_ = 0;  ///< in the history
  std::uint32_t pairs_ = 0;   ///< that wait

  // this lane's query
  bool is_there_ = false;
  std::uint32_t chosen_ = 0;
  std::uint32_t number_ = 0;
  std::uint64_t row_ = 0;
  T query_[kDims];
  T radius_ = 0;

 private:
  __device__ Search& derived() { return static_cast<Search&>(*this); }

  // the walk: where it is, how far up it went, which children are left here and, in lane d, at depth d
  std::uint32_t own_ = 0, bottom_ = 0, top_ = 0, depth_ = 0, group_ = 0, left_ = 0, masks_ = 0;
};

/// The packets that there are.
template <typename T>
__device__ inline std::uint64_t packets_of(const QuerySource<T>& source, std::uint32_t most) {
  if (source.chosen_count == nullptr) return most;
  return (queries_of(source) + kPacketQueries - 1) / kPacketQueries;
}

}  // namespace kith::cuda
