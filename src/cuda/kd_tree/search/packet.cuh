// kNN by packets: a warp searches for 32 queries that lie close together, each for a lane.
//
// 1. A radius is guessed that holds somewhat more neighbours than are wanted, from one query of the packet and the
//    points around it.
// 2. The tree is walked once for all, from the packet's own bottom node outward: a lane looks at a node. Each query is
//    then compared with each leaf that the packet reaches; what is near enough becomes a pair.
// 3. Pairs are shared out to the lanes, whosever they are: a lane takes a leaf and a query and writes the points within
//    the query's radius into the query's buffer, as 32-bit keys: the leading bits of the distance, then which point. So
//    no lane waits for the query that has the most leaves.
// 4. Buffers are merged into the query's sorted list of keys, which may shrink its radius.
// 5. At the end the keys' points are looked up, and their exact distances and numbers decide.
//
// It is exact, or the query is handed on to a search that is: truncation is monotone, so if the list holds a key beyond
// those that tie with the last wanted one, then every neighbour is in the list. A query whose list ends within such a
// tie is searched once more with a longer list. It fails if that is too short as well or if its radius holds too few
// points; a packet fails if it is too large for its radius or reaches too many leaves.
#pragma once

#include "cuda/kd_tree/search/candidate_warp.cuh"
#include "cuda/kd_tree/search/nearest_walk.cuh"
#include "cuda/kd_tree/search/packet_types.hpp"
#include "cuda/kd_tree/search/query_order.cuh"
#include "cuda/kd_tree/search/query_warp.cuh"
#include "cuda/kd_tree/search/sorting_network.cuh"
#include "cuda/kd_tree/search/wide_tree.hpp"

#include <bit>
#include <cfloat>

namespace kith::cuda {

/// Warps of a block; each has its own packet.
inline constexpr std::uint32_t kPacketWarps = 2;

/// What a packet has in shared memory.
template <typename T, std::uint32_t kDims, std::uint32_t kKept>
struct PacketRoom {
  static constexpr std::uint32_t kBuffer = kKept <= 10   ? 32
                                           : kKept <= 32 ? 48
                                                         : 66;  ///< keys of a query that wait for their merge
  static constexpr std::uint32_t kHistory = 256;                ///< leaves that have names
  static constexpr std::uint32_t kPairs = 512;                  ///< as many are worked off before more come

  alignas(16) T boxes[kPacketQueries][2 * kDims];  ///< of the leaves that are looked at now
  T queries[kDims + 1][kPacketQueries];            ///< coordinates, then the chain up to which a query looks
  std::uint32_t counts[kPacketQueries];            ///< keys in the buffers
  std::uint32_t history[kHistory];  ///< the place of the first point of each leaf seen; top bit: one point fewer
  std::uint16_t pairs[kPairs + 2 * kPacketQueries];  ///< history << 5 | query
  std::uint32_t buffers[kBuffer][kPacketQueries];
};

/// A corner pair of a box, in as few loads as its alignment allows.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void load_box(const T* from, T (&box)[2 * kDims]) {
  constexpr std::uint32_t kBytes = 2 * kDims * sizeof(T);
  constexpr std::uint32_t kVector = kBytes % 16 == 0 ? 16 : 8;
  constexpr std::uint32_t kPer = kVector / sizeof(T);
  struct alignas(kVector) Vector {
    T values[kPer];
  };
#pragma unroll
  for (std::uint32_t i = 0; i < 2 * kDims / kPer; ++i) {
    const Vector vector = reinterpret_cast<const Vector*>(from)[i];
#pragma unroll
    for (std::uint32_t j = 0; j < kPer; ++j) box[i * kPer + j] = vector.values[j];
  }
}

template <typename T, std::uint32_t kDims, std::uint32_t kKept>
class Packet {
 public:
  using Room = PacketRoom<T, kDims, kKept>;

  __device__ Packet(const PacketTask<T>& task, Room& room)
      : task_(task),
        tree_(task.knn.tree),
        room_(room),
        wide_(task.knn.tree.geometry.levels),
        most_(static_cast<std::uint32_t>(task.knn.tree.geometry.most_per_leaf())) {}

  __device__ __forceinline__ void run(std::uint32_t packet) {
    if (!load_queries(packet)) return;
    span_packet();
    const float guess = task_.finds_itself ? 0 : guess_radius();
    bool is_searched = task_.finds_itself || (guess < FLT_MAX && !is_larger_than(guess));
    if (is_searched) {
      begin(static_cast<T>(guess));
      is_searched = walk();
    }
    const bool is_tied = is_searched && is_there_ && ends_in_tie();
    const bool has_answer = is_searched && is_there_ && !is_tied && has_enough();
    const bool comes_back = is_tied && task_.tied != nullptr;
    hand_on(comes_back, task_.tied, task_.tied_count);
    hand_on(is_there_ && !has_answer && !comes_back, task_.failed, task_.failed_count);
    if (is_searched) answer(has_answer);
  }

 private:
  static constexpr std::uint32_t kNameMask = (1u << kNameBits) - 1;
  static constexpr std::uint32_t kNoKey = 0x7f800000;  ///< the bits of infinity: beyond every distance
  static constexpr std::uint32_t kAtOnce = 4;          ///< points that a lane looks at together
  static constexpr std::uint32_t kMerged = 16;         ///< keys that are merged at a time
  static constexpr std::uint32_t kNearlyFull = Room::kBuffer - 12;
  static constexpr std::uint32_t kGuessRows = guess_rows(kKept);

  // --- the queries ---

  /// False if there are none.
  __device__ __forceinline__ bool load_queries(std::uint32_t packet) {
    const QuerySource<T>& source = task_.knn.queries;
    const core::KdGeometry& geometry = tree_.geometry;
    std::uint64_t first = std::uint64_t{packet} * kPacketQueries, end = queries_of(source);
    std::uint32_t node = 0;
    if (task_.packets_per_node == 16) {  // two leaves each
      node = packet / 16;
      first = geometry.first(geometry.levels - 1, packet);
      end = geometry.first(geometry.levels - 1, std::uint64_t{packet} + 1);
    } else if (task_.packets_per_node > 0) {
      node = packet / task_.packets_per_node;
      const std::uint32_t part = packet % task_.packets_per_node;
      const std::uint64_t begin = geometry.first(geometry.levels - 5, node);
      const auto size = static_cast<std::uint32_t>(geometry.first(geometry.levels - 5, node + 1) - begin);
      first = begin + part * size / task_.packets_per_node;
      end = begin + (part + 1) * size / task_.packets_per_node;
    }
    if (first >= end) return false;
    if (end - first > kPacketQueries) end = first + kPacketQueries;
    const std::uint64_t own = first + lane_number() < end ? first + lane_number() : end - 1;
    is_there_ = first + lane_number() < end;
    chosen_ = source.chosen == nullptr ? static_cast<std::uint32_t>(own) : source.chosen[own];
    const std::uint32_t middle = static_cast<std::uint32_t>(end - first) / 2;
    if (source.rows == nullptr) {
      const std::uint64_t own_leaf =
          task_.packets_per_node > 0 ? leaf_in_node(node, own) : tree_.leaf_of_place(chosen_);
      const SearchLeaf<T> leaf = tree_.leaf(own_leaf);
      const auto slot = static_cast<std::uint32_t>(chosen_ - geometry.first(geometry.levels, own_leaf));
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) query_[d] = leaf.values[d * leaf.count + slot];
      number_ = leaf.numbers[slot];
      row_ = number_ - source.first;
      leaf_ = shuffle(own_leaf, middle);
    } else {
      T row[kDims];
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        query_[d] = source.rows[chosen_ * source.row_stride + d];
        row[d] = shuffle(query_[d], middle);
      }
      number_ = kNoNumber;
      row_ = chosen_;
      leaf_ = near_leaf_of(row);
    }
    return true;
  }

  /// The leaf of a place in a bottom node. Leaves have `most` points or one fewer, so a guess is at most a few too low;
  /// it spares a division.
  __device__ std::uint64_t leaf_in_node(std::uint32_t node, std::uint64_t place) const {
    const core::KdGeometry& geometry = tree_.geometry;
    const auto offset = static_cast<std::uint32_t>(place - geometry.first(geometry.levels - 5, node));
    std::uint64_t leaf = std::uint64_t{node} * kWarp + (offset * reciprocal() >> 16);
    while (geometry.first(geometry.levels, leaf + 1) <= place) ++leaf;
    return leaf;
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
  }

  // --- the radius ---

  /// A chain value that holds about as many points as are expected, seen from the query in the midst of the packet; not
  /// finite if there is none. Any value is right.
  __device__ __forceinline__ float guess_radius() {
    T from_middle = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      const T difference = query_[d] - (lower_[d] / 2 + upper_[d] / 2);
      from_middle = core::L2Chain{}.step(from_middle, difference);
    }
    const std::uint32_t order = rough_order(from_middle);
    const std::uint32_t middle = lowest_bit(ballot(order == min_of_warp(order)));
    T query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) query[d] = shuffle(query_[d], middle);

    // Lane j knows where leaf j of the subtree begins.
    const std::uint64_t first_leaf = leaf_ >> task_.guess_levels << task_.guess_levels;
    const auto begin =
        static_cast<std::uint32_t>(tree_.geometry.first(tree_.geometry.levels, first_leaf + lane_number()));
    const std::uint32_t slots = most_ << task_.guess_levels;
    float distances[kGuessRows];
    std::uint32_t farthest = 0;
#pragma unroll
    for (std::uint32_t row = 0; row < kGuessRows; ++row) {
      const std::uint32_t slot = row * kWarp + lane_number();
      const std::uint32_t leaf = slot * reciprocal() >> 16, i = slot - leaf * most_;
      const std::uint32_t place = shuffle(begin, leaf), count = shuffle(begin, leaf + 1) - place;
      distances[row] = std::numeric_limits<float>::infinity();
      if (slot < slots && i < count) {
        const T* values = reinterpret_cast<const T*>(tree_.blocks + std::uint64_t{place} * tree_.point_bytes) + i;
        T sum = T(0);
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) sum = core::L2Chain{}.step(sum, T(query[d] - values[d * count]));
        distances[row] = toward_zero(sum);
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(distances[row]);
        farthest = bits > farthest ? bits : farthest;
      }
    }
    // By bisection of the bits, which order like the numbers, over twelve powers of two.
    constexpr std::uint32_t kRange = 12u << 23, kRounds = 7;
    std::uint32_t high = max_of_warp(farthest), low = high > kRange ? high - kRange : 0;
#pragma unroll 1
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const std::uint32_t middle_bits = low + (high - low) / 2;
      const float value = std::bit_cast<float>(middle_bits);
      std::uint32_t within = 0;
#pragma unroll
      for (std::uint32_t row = 0; row < kGuessRows; ++row) within += distances[row] <= value ? 1 : 0;
      if (sum_of_warp(within) >= task_.expected) {
        high = middle_bits;
      } else {
        low = middle_bits;
      }
    }
    return std::bit_cast<float>(high);
  }

  /// Whether so many leaves would have to be looked at that the queries are better off alone.
  __device__ bool is_larger_than(float radius) const {
    constexpr float kMost = 256;
    T diagonal = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) diagonal = core::L2Chain{}.step(diagonal, T(upper_[d] - lower_[d]));
    return !(diagonal <= static_cast<T>(kMost) * static_cast<T>(radius));
  }

  __device__ void begin(T radius) {
    is_bounded_ = !(radius < task_.knn.bound);
    radius_ = is_bounded_ ? task_.knn.bound : radius;
    reach_ = radius_;
    sync_warp();  // the packet before is done with the room
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) room_.queries[d][lane_number()] = query_[d];
    if (!is_there_) radius_ = T(-1);
    room_.queries[kDims][lane_number()] = radius_;
    room_.counts[lane_number()] = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) keys_[i] = kNoKey;
    leaves_ = pairs_ = 0;
    sync_warp();
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
        if (j == count || pairs_ > Room::kPairs) work_off(is_last);
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
    if (leaves_ + count > Room::kHistory) return false;
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

  // --- pairs ---

  /// Takes the pairs 32 at a time; at last the rest too, and empties the buffers.
  __device__ __forceinline__ void work_off(bool is_last) {
    std::uint32_t first = 0;
    sync_warp();
    for (;; first += kWarp) {
      const bool has_pairs = is_last ? first < pairs_ : first + kWarp <= pairs_;
      const bool is_end = is_last && first + kWarp >= pairs_;
      const std::uint32_t enough = is_end ? 0 : kNearlyFull;
      std::uint32_t pair = 0, within = 0;
      if (has_pairs && first + lane_number() < pairs_) {
        pair = room_.pairs[first + lane_number()];
        within = points_within(pair);
      }
      for (;;) {  // once, unless buffers are full
        if (within != 0 && put_into_buffer(pair, within)) within = 0;
        sync_warp();
        if (!any_lane(within != 0 || room_.counts[lane_number()] > enough)) break;
        merge();
      }
      if (is_end) {
        pairs_ = 0;
        return;
      }
      if (!has_pairs) break;
    }
    const std::uint32_t rest = pairs_ - first;
    if (first > 0 && rest > 0) {
      const std::uint16_t pair = lane_number() < rest ? room_.pairs[first + lane_number()] : 0;
      sync_warp();
      if (lane_number() < rest) room_.pairs[lane_number()] = pair;
    }
    pairs_ = rest;
    sync_warp();
  }

  __device__ std::uint32_t key_of(T distance, std::uint32_t name) const {
    return (std::bit_cast<std::uint32_t>(toward_zero(distance)) & ~kNameMask) | name;
  }
  /// No distance with this key, but for the name, is above it.
  __device__ T most_of_key(std::uint32_t key) const {
    if constexpr (sizeof(T) == 4) return std::bit_cast<T>(key | kNameMask);
    return static_cast<T>(std::bit_cast<float>((key | kNameMask) + 1));
  }

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

  /// False if there is no room. Whoever asks for room after one who got none gets none either, so there are no gaps.
  __device__ __forceinline__ bool put_into_buffer(std::uint32_t pair, std::uint32_t within) {
    const std::uint32_t asking = pair & 31, seen = pair >> 5, found = count_bits(within);
    std::uint32_t at = atomic_add(&room_.counts[asking], found);
    if (at + found > Room::kBuffer) {
      atomic_add(&room_.counts[asking], 0u - found);
      return false;
    }
    std::uint32_t count = 0;
    const T* values = points_of(seen, count);
    for (; within != 0; within &= within - 1, ++at) {
      const std::uint32_t i = scanned() - 1 - lowest_bit(within);
      T sum = T(0);
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        sum = core::L2Chain{}.step(sum, T(room_.queries[d][asking] - values[d * count + i]));
      }
      room_.buffers[at][asking] = key_of(sum, seen << point_bits() | i);
    }
    return true;
  }

  /// Up to 16 keys of each buffer go into the list; a full list shrinks the radius.
  __device__ __forceinline__ void merge() {
    const std::uint32_t waiting = room_.counts[lane_number()];
    std::uint32_t fresh[kMerged];
#pragma unroll
    for (std::uint32_t i = 0; i < kMerged; ++i) {
      fresh[i] = i < waiting ? room_.buffers[waiting - 1 - i][lane_number()] : kNoKey;
    }
    room_.counts[lane_number()] = waiting > kMerged ? waiting - kMerged : 0;
    sort_in_registers(fresh);
    merge_in_registers(keys_, fresh);
    const std::uint32_t last = key_at(task_.wanted - 1);
    if (last < kNoKey) {
      const T most = most_of_key(last);
      if (most < radius_) {
        radius_ = most;
        room_.queries[kDims][lane_number()] = most;
      }
    }
    sync_warp();
  }

  __device__ std::uint32_t key_at(std::uint32_t place) const {
    std::uint32_t key = keys_[0];
#pragma unroll
    for (std::uint32_t i = 1; i < kKept; ++i) key = i == place ? keys_[i] : key;
    return key;
  }

  // --- the answer ---

  /// All that are wanted, or all within the bound: else the radius was too small.
  __device__ bool has_enough() const { return is_bounded_ || key_at(task_.wanted - 1) < kNoKey; }
  /// Whether what fell out of the list may come before what is in it.
  __device__ bool ends_in_tie() const {
    const std::uint32_t last = key_at(task_.wanted - 1);
    return last < kNoKey && (keys_[kKept - 1] & ~kNameMask) == (last & ~kNameMask);
  }

  __device__ void hand_on(bool is_handed_on, std::uint32_t* to, std::uint32_t* count) {
    const std::uint32_t all = ballot(is_handed_on);
    if (all == 0) return;
    std::uint32_t at = lane_number() == 0 ? atomic_add(count, count_bits(all)) : 0;
    at = shuffle(at, 0) + count_bits(all & ((1u << lane_number()) - 1));
    if (is_handed_on) to[at] = chosen_;
  }

  /// Looks the points up, sorts them by what they really are, and writes the rows.
  __device__ __forceinline__ void answer(bool has_answer) {
    if constexpr (kKept <= kWarp) {
      answer_in_lanes(has_answer);
    } else {
      answer_by_warp(has_answer);
    }
  }

  /// The point that a key names, as seen from a query.
  __device__ Candidate<T> look_up(std::uint32_t key, const T (&query)[kDims]) const {
    const std::uint32_t name = key & kNameMask, at = name & ((1u << point_bits()) - 1);
    std::uint32_t count = 0;
    const T* values = points_of(name >> point_bits(), count);
    T sum = T(0);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) sum = core::L2Chain{}.step(sum, T(query[d] - values[d * count + at]));
    return {sum, reinterpret_cast<const std::uint32_t*>(values + kDims * count)[at]};
  }
  __device__ std::uint32_t number_or_missing(const Candidate<T>& candidate) const {
    return candidate.index == kNoNumber ? static_cast<std::uint32_t>(tree_.geometry.points) : candidate.index;
  }

  /// Each lane its own list, in registers.
  __device__ __forceinline__ void answer_in_lanes(bool has_answer) {
    Candidate<T> found[kKept];
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) {
      found[i] = last_candidate<T>();
      if (has_answer && keys_[i] < kNoKey) found[i] = look_up(keys_[i], query_);
    }
    // Sorted already but for keys that were equal before truncation: a round or two.
    for (;;) {
      bool is_sorted = true;
#pragma unroll
      for (std::uint32_t i = 0; i + 1 < kKept; ++i) is_sorted = is_sorted && !(found[i + 1] < found[i]);
      if (!any_lane(!is_sorted)) break;
#pragma unroll
      for (std::uint32_t i = 0; i + 1 < kKept; i += 2) put_in_order(found[i], found[i + 1]);
#pragma unroll
      for (std::uint32_t i = 1; i + 1 < kKept; i += 2) put_in_order(found[i], found[i + 1]);
    }
    if (task_.knn.filter.exclude_self) leave_out_self(found);
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) found[i].index = number_or_missing(found[i]);
    if (kKept <= 18 && task_.knn.k % 4 == 0) {
      if (has_answer) write_vectors(found);
    } else {
      write_rows(found, has_answer);
    }
  }

  __device__ static void put_in_order(Candidate<T>& a, Candidate<T>& b) {
    if (b < a) {
      const Candidate<T> lesser_one = b;
      b = a;
      a = lesser_one;
    }
  }

  /// Those behind it move up; the list has one more than is wanted.
  __device__ void leave_out_self(Candidate<T> (&found)[kKept]) const {
    bool is_past = false;
#pragma unroll
    for (std::uint32_t i = 0; i + 1 < kKept; ++i) {
      is_past = is_past || found[i].index == number_;
      if (is_past) found[i] = found[i + 1];
    }
  }

  /// Four entries at a time.
  __device__ void write_vectors(const Candidate<T> (&found)[kKept]) const {
    struct alignas(16) Numbers {
      std::uint32_t values[4];
    };
    struct alignas(16) Chains {
      T values[16 / sizeof(T)];
    };
    const std::uint32_t k = task_.knn.k;
    std::uint32_t* indices = task_.knn.indices + row_ * k;
    T* chains = task_.knn.chains + row_ * k;
#pragma unroll
    for (std::uint32_t i = 0; i + 4 <= kKept; i += 4) {
      if (i >= k) break;
      *reinterpret_cast<Numbers*>(indices +
                                  i) = {{found[i].index, found[i + 1].index, found[i + 2].index, found[i + 3].index}};
      if constexpr (sizeof(T) == 4) {
        *reinterpret_cast<Chains*>(chains + i) = {
            {found[i].distance, found[i + 1].distance, found[i + 2].distance, found[i + 3].distance}};
      } else {
        *reinterpret_cast<Chains*>(chains + i) = {{found[i].distance, found[i + 1].distance}};
        *reinterpret_cast<Chains*>(chains + i + 2) = {{found[i + 2].distance, found[i + 3].distance}};
      }
    }
  }

  /// Through shared memory, so that the lanes write a row together.
  __device__ void write_rows(const Candidate<T> (&found)[kKept], bool has_answer) {
    write_column(task_.knn.indices, has_answer, [&](std::uint32_t i) { return found[i].index; });
    write_column(task_.knn.chains, has_answer, [&](std::uint32_t i) { return found[i].distance; });
  }
  template <typename V, typename Entry>
  __device__ __forceinline__ void write_column(V* column, bool has_answer, const Entry& entry) {
    constexpr std::uint32_t kStride = kKept + 1;  // odd: no two lanes in one bank
    constexpr std::uint32_t kRows = kPacketQueries * kStride * sizeof(V) <= sizeof(room_.buffers) ? 32 : 16;
    static_assert(kRows * kStride * sizeof(V) <= sizeof(room_.buffers));
    V* stage = reinterpret_cast<V*>(room_.buffers);
    const std::uint32_t k = task_.knn.k;
#pragma unroll 1
    for (std::uint32_t first = 0; first < kPacketQueries; first += kRows) {
      sync_warp();
      if (lane_number() - first < kRows) {
#pragma unroll
        for (std::uint32_t i = 0; i < kKept; ++i) stage[(lane_number() - first) * kStride + i] = entry(i);
      }
      sync_warp();
      std::uint32_t asking = ballot(has_answer && lane_number() - first < kRows);
      for (; asking != 0; asking &= asking - 1) {
        const std::uint32_t lane = lowest_bit(asking);
        const std::uint64_t row = shuffle(row_, lane);
        if (lane_number() < k) column[row * k + lane_number()] = stage[(lane - first) * kStride + lane_number()];
      }
    }
  }

  /// One list after the other, two entries to a lane: for lists that are too long for the registers of one.
  __device__ __forceinline__ void answer_by_warp(bool has_answer) {
    constexpr std::uint32_t kStride = kPacketQueries + 1;
    std::uint32_t* stage = &room_.buffers[0][0];
    static_assert(kKept == 2 * kWarp && kKept * kStride * sizeof(std::uint32_t) <= sizeof(room_.buffers));
    sync_warp();
#pragma unroll
    for (std::uint32_t i = 0; i < kKept; ++i) stage[i * kStride + lane_number()] = keys_[i];
    sync_warp();
    const std::uint32_t k = task_.knn.k;
    for (std::uint32_t asking = ballot(has_answer); asking != 0; asking &= asking - 1) {
      const std::uint32_t lane = lowest_bit(asking);
      T query[kDims];
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) query[d] = room_.queries[d][lane];
      Candidate<T> even = last_candidate<T>(), odd = last_candidate<T>();
      const std::uint32_t even_key = stage[2 * lane_number() * kStride + lane];
      const std::uint32_t odd_key = stage[(2 * lane_number() + 1) * kStride + lane];
      if (even_key < kNoKey) even = look_up(even_key, query);
      if (odd_key < kNoKey) odd = look_up(odd_key, query);
      for (;;) {  // a round or two
        put_in_order(even, odd);
        const Candidate<T> before = from_lane_before(odd);
        const Candidate<T> after = from_lane(even, lane_number() + 1 < kWarp ? lane_number() + 1 : lane_number());
        const bool is_out_of_order = lane_number() > 0 && even < before;
        if (!any_lane(is_out_of_order)) break;
        if (is_out_of_order) even = before;
        if (lane_number() + 1 < kWarp && after < odd) odd = after;
      }
      const std::uint64_t row = shuffle(row_, lane);
      const std::uint32_t self = task_.knn.filter.exclude_self ? shuffle(number_, lane) : kNoNumber - 1;
      // What comes after the query itself moves up by one.
      const std::uint32_t evens = ballot(even.index == self), odds = ballot(odd.index == self);
      const std::uint32_t at = evens != 0 ? 2 * lowest_bit(evens) : odds != 0 ? 2 * lowest_bit(odds) + 1 : kKept;
      write_entry(row * k, 2 * lane_number(), at, even);
      write_entry(row * k, 2 * lane_number() + 1, at, odd);
    }
  }
  __device__ void write_entry(std::uint64_t row_at, std::uint32_t place, std::uint32_t left_out,
                              const Candidate<T>& found) const {
    const std::uint32_t to = place > left_out ? place - 1 : place;
    if (place == left_out || to >= task_.knn.k) return;
    task_.knn.indices[row_at + to] = number_or_missing(found);
    task_.knn.chains[row_at + to] = found.distance;
  }

  const PacketTask<T>& task_;
  const SearchTree<T>& tree_;
  Room& room_;
  WideTree wide_;
  std::uint32_t most_;  ///< points of a leaf; some have one fewer

  // the packet
  std::uint64_t leaf_ = 0;  ///< in its midst
  T lower_[kDims], upper_[kDims];
  T reach_ = 0;               ///< no query looks farther
  bool is_bounded_ = false;   ///< by the search's own bound, not by a guess
  std::uint32_t leaves_ = 0;  ///< in the history
  std::uint32_t pairs_ = 0;   ///< that wait

  // the walk: where it is, how far up it went, which children are left here and, in lane d, at depth d
  std::uint32_t own_ = 0, bottom_ = 0, top_ = 0, depth_ = 0, group_ = 0, left_ = 0, masks_ = 0;

  // this lane's query
  bool is_there_ = false;
  std::uint32_t chosen_ = 0;
  std::uint32_t number_ = 0;
  std::uint64_t row_ = 0;
  T query_[kDims];
  T radius_ = 0;
  std::uint32_t keys_[kKept];
};

/// Blocks that a processor should have room for, which bounds the registers of a thread.
template <typename T>
constexpr std::uint32_t packet_blocks(std::uint32_t kept) {
  if (sizeof(T) == 4) return kept <= 10 ? 14 : kept <= 18 ? 10 : kept <= 32 ? 8 : 6;
  return kept <= 10 ? 10 : kept <= 18 ? 8 : kept <= 32 ? 5 : 4;
}

template <typename T, std::uint32_t kDims, std::uint32_t kKept>
__global__ void __launch_bounds__(kPacketWarps* kWarp, packet_blocks<T>(kKept))
    knn_by_packets(const __grid_constant__ PacketTask<T> task) {
  using Room = PacketRoom<T, kDims, kKept>;
  Room& room = reinterpret_cast<Room*>(shared_memory())[warp_number()];
  std::uint64_t packets = task.packets;
  if (task.knn.queries.chosen_count != nullptr) {
    packets = (queries_of(task.knn.queries) + kPacketQueries - 1) / kPacketQueries;
  }
  for (std::uint64_t packet = search_warp(); packet < packets; packet += search_warps()) {
    Packet<T, kDims, kKept>(task, room).run(static_cast<std::uint32_t>(packet));
  }
}

}  // namespace kith::cuda
