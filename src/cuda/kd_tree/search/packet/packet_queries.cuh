// The queries of a packet: a warp takes up to 32 that lie close together, each for a lane.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/kd_tree/search/warp/nearest_walk.cuh"
#include "cuda/kd_tree/search/packet/packed_points.cuh"
#include "cuda/kd_tree/search/packet/packet_types.hpp"
#include "cuda/kd_tree/search/warp/query_warp.cuh"

#include <bit>
#include <limits>

namespace kith::cuda {

template <typename T, std::uint32_t kDims>
class PacketQueries {
 protected:
  using Point = PackedPoint<T, kDims>;

  __device__ PacketQueries(const SearchTree<T>& tree, const QuerySource<T>& source, std::uint32_t packets_per_node)
      : tree_(tree), source_(source), packets_per_node_(packets_per_node) {}

  /// False if there are none.
  __device__ __forceinline__ bool load_queries(std::uint32_t packet) {
    if (packets_per_node_ > 0) return load_points(packet);
    const std::uint64_t first = std::uint64_t{packet} * kPacketQueries, all = queries_of(source_);
    if (first >= all) return false;
    is_there_ = first + lane_number() < all;
    const std::uint64_t own = is_there_ ? first + lane_number() : all - 1;
    chosen_ = source_.chosen == nullptr ? static_cast<std::uint32_t>(own) : source_.chosen[own];
    if (source_.rows == nullptr) leaf_ = tree_.leaf_of_place(chosen_);
    load_chosen();
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
    chosen_ = shuffle(place, at) + own - shuffle(sum - count, at);
    leaf_ = std::uint64_t{node} * kWarp + gray(at);
    load_point();
    return true;
  }
  __device__ static std::uint32_t gray(std::uint32_t i) { return i ^ (i >> 1); }

  /// The query of this lane. Done once more after the walk, it takes no registers in between.
  __device__ void load_chosen() {
    if (source_.rows == nullptr) return load_point();
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query_[d] = source_.rows[chosen_ * source_.row_stride + d];
    number_ = kNoPoint;
    row_ = chosen_;
  }
  /// The one at place chosen_.
  __device__ void load_point() {
    Point point;
    point.template load<true>(tree_.packed + std::uint64_t{chosen_} * Point::kBytes);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query_[d] = point.values[d];
    number_ = point.number;
    row_ = number_ - source_.first;
  }

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

  /// The box of some lanes' queries, at least one.
  __device__ void span_lanes(bool is_in) {
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      lower_[d] = is_in ? query_[d] : std::numeric_limits<T>::infinity();
      upper_[d] = is_in ? query_[d] : -std::numeric_limits<T>::infinity();
#pragma unroll
      for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
        lower_[d] = lesser(lower_[d], shuffle_xor(lower_[d], step));
        upper_[d] = greater(upper_[d], shuffle_xor(upper_[d], step));
      }
    }
  }

  __device__ void span_packet() {
    span_lanes(true);
    // The query nearest to the middle of the box, and its leaf: there the walk begins.
    T from_middle = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      from_middle = core::step_of_gap(core::L2{}, from_middle, T(query_[d] - (lower_[d] / 2 + upper_[d] / 2)));
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

  /// Whether so many leaves would have to be looked at that the queries are better off alone.
  __device__ bool is_larger_than(float radius) const {
    constexpr float kMost = 4096;
    T diagonal = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d)
      diagonal = core::step_of_gap(core::L2{}, diagonal, T(upper_[d] - lower_[d]));
    return !(diagonal <= static_cast<T>(kMost) * static_cast<T>(radius));
  }

  /// Puts down the lanes' queries for another search.
  __device__ void hand_on(bool is_handed_on, std::uint32_t* to, std::uint32_t* count) {
    const std::uint32_t all = ballot(is_handed_on);
    if (all == 0) return;
    std::uint32_t at = lane_number() == 0 ? atomic_add(count, count_bits(all)) : 0;
    at = shuffle(at, 0) + count_bits(all & ((1u << lane_number()) - 1));
    if (is_handed_on) to[at] = chosen_;
  }

  // --- copies of one query ---

  /// The lanes whose queries are where this lane's is.
  __device__ std::uint32_t lanes_with_copies() const {
    std::uint32_t copies = ballot(is_there_);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      if constexpr (sizeof(T) == 4) {
        copies &= match_lanes(std::bit_cast<std::uint32_t>(query_[d]));
      } else {
        const auto bits = std::bit_cast<std::uint64_t>(query_[d]);
        copies &= match_lanes(static_cast<std::uint32_t>(bits)) & match_lanes(static_cast<std::uint32_t>(bits >> 32));
      }
    }
    return copies;
  }
  /// Whether some query is where the one before it is: quick to see, and so wherever many are copies.
  __device__ bool has_equal_neighbors() const {
    bool is_same = is_there_ && lane_number() > 0;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T before = shuffle_up(query_[d], 1);
      is_same = is_same && query_[d] == before;
    }
    return any_lane(is_same);
  }
  /// Whether at most half of the queries are at places of their own. Wrong now and then.
  __device__ bool most_are_copies() const {
    std::uint32_t hash = 0;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      if constexpr (sizeof(T) == 4) {
        hash = hash * 0x9e3779b1u + std::bit_cast<std::uint32_t>(query_[d]);
      } else {
        const auto bits = std::bit_cast<std::uint64_t>(query_[d]);
        hash = (hash * 0x9e3779b1u + static_cast<std::uint32_t>(bits)) * 0x85ebca6bu +
               static_cast<std::uint32_t>(bits >> 32);
      }
    }
    const std::uint32_t there = ballot(is_there_), alike = match_lanes(hash) & there;
    const bool is_first = is_there_ && lowest_bit(alike) == lane_number();
    return 2 * count_bits(ballot(is_first)) <= count_bits(there);
  }

  /// Puts down the packet as one of its group.
  __device__ static void hand_on_to_group(std::uint32_t packet, std::uint32_t* groups, PacketPart* to,
                                          std::uint32_t* count) {
    if (lane_number() != 0) return;
    const std::uint32_t group = packet / kPacketsPerGroup;
    if (atomic_or(&groups[group], 1u << packet % kPacketsPerGroup) == 0) to[atomic_add(count, 1u)] = {group, 0};
  }

  /// Puts down the packet, of which some lanes' queries need another search.
  __device__ void hand_on_part(std::uint32_t packet, bool is_handed_on, PacketPart* to, std::uint32_t* count) const {
    const std::uint32_t lanes = ballot(is_handed_on);
    if (lanes != 0 && lane_number() == 0) to[atomic_add(count, 1u)] = {packet, lanes};
  }

  const SearchTree<T>& tree_;
  const QuerySource<T>& source_;
  std::uint32_t packets_per_node_;

  // the packet
  std::uint32_t middle_ = 0;  ///< the lane whose query is in its midst
  std::uint64_t leaf_ = 0;    ///< of that query
  T lower_[kDims], upper_[kDims];

  // this lane's query
  bool is_there_ = false;
  std::uint32_t chosen_ = 0;
  std::uint32_t number_ = 0;
  std::uint64_t row_ = 0;
  T query_[kDims];
};

}  // namespace kith::cuda
