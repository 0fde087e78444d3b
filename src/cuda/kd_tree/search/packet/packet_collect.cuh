// kNN by packets for longer lists: a warp collects all points within a radius of each of its 32 queries, then sorts the
// lists, one after the other (collected_by_warp.cuh) or, if they ended in a tie and are short, a lane each
// (collected_by_lanes.cuh).
//
// 1. A radius is guessed that holds somewhat more points than are wanted: from a sample of the points around the query
//    in the midst of the packet, which is good to a factor of two, then by counting around that query alone.
// 2. The packet walks the tree (packet_walk.cuh) and notes in shared memory which points lie within the radius of each
//    query, two bytes each.
// 3. A query that found as many as are wanted, and had room for them all, has its answer among them. They are
//    looked up and sorted by 32-bit keys: the distance in 2^23 steps of the radius or more, and the place in the list;
//    if many are not wanted, only the lesser ones. The first k are written by the warp together. Where keys are too
//    coarse to tell points apart, exact distances and numbers decide.
// 4. The packet walks once more for the others, with radii that their counts suggest, and perhaps a third time.
//
// It is exact: every point up to the radius is collected, ties included, or the query is handed on: if it fails three
// times, or the packet reaches too many leaves.
//
// Warp instructions per query of 10M uniform points in 3 dims for k = 100 (about 130 collected), counted in the code
// and by hand: guess 90, walk and pairs 450, looking up 300, choosing and sorting 500, writing 90.
#pragma once

#include "cuda/kd_tree/search/packet/reduced_histogram.cuh"
#include "cuda/kd_tree/search/packet/collected_by_lanes.cuh"
#include "cuda/kd_tree/search/packet/copied_rows.cuh"
#include "cuda/kd_tree/search/packet/packet_guess.cuh"
#include "cuda/kd_tree/search/packet/packet_walk.cuh"
#include "cuda/kd_tree/search/packet/place_walk.cuh"

#include <bit>
#include <cfloat>
#include <cmath>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectingPacket : CollectedByLanes<T, kDims, kLists> {
 public:
  using Storage = PacketWalkStorage<T, kDims, leaves_of_collecting(kDims)>;

  __device__ CollectingPacket(const PacketTask<T>& task, const CollectLayout& layout, std::byte* memory)
      : CollectedByLanes<T, kDims, kLists>(task, layout, memory),
        leaders_(reinterpret_cast<std::uint32_t*>(memory + layout.leaders_at)) {}

  /// All queries of a packet, some, or those of a group of packets.
  __device__ __forceinline__ void run(const PacketPart& part) {
    const bool is_group = kAreTied && part.lanes == 0, has_radii = kAreTied && (part.packet & kHasRadii) != 0;
    std::uint32_t packets = is_group ? task_.groups[part.packet] : 0, waiting = 0;
    do {
      if (is_group) {
        take_leaders(part.packet, packets, waiting);
        if (waiting == 0) break;
        load_leaders(waiting);
      } else {
        if (!Walk::load_queries(part.packet & ~kHasRadii)) return;
        is_there_ = is_there_ && (part.lanes >> lane_number() & 1) != 0;
      }
      Walk::span_packet();
      search(is_group, has_radii);
    } while (is_group);
    if (is_group) answer_copies(part.packet);
  }

 private:
  using Lists = CollectedByLanes<T, kDims, kLists>;
  using typename Lists::Walk;
  friend Walk;
  friend typename Walk::Points;
  static constexpr bool kAreTied = kLists != CollectedLists::long_ones;
  static constexpr bool kShrinks = false, kNamesPairedOnly = true, kIsGeneral = false, kSkipsCopies = kAreTied;
  using Lists::growth_, Lists::names_, Lists::names_of, Lists::task_;
  using Walk::chosen_, Walk::is_there_, Walk::leaf_, Walk::leaves_, Walk::lower_, Walk::middle_, Walk::most_,
      Walk::number_, Walk::query_, Walk::reach_, Walk::row_, Walk::storage_, Walk::seen_, Walk::tree_, Walk::upper_;

  /// The queries of the lanes that are there.
  __device__ __forceinline__ void search(bool is_group, bool has_radii) {
    T radius = T(0);
    bool is_open = is_there_, is_searched = true, is_guessed = has_radii;
    if (has_radii) {
      if (is_open) radius = task_.knn.answer.reduced[row_ * task_.knn.k];
    } else if constexpr (!kAreTied) {
      const float guess = guess_radius();
      is_searched = guess < FLT_MAX && !Walk::is_larger_than(guess);
      radius = static_cast<T>(guess);
    }
    constexpr std::uint32_t kWalks = 3;
    std::uint32_t found_before = 0;
    float growth = growth_, factor = 1;
#pragma unroll 1
    for (std::uint32_t i = 0; i < kWalks && is_searched && any_lane(is_open); ++i) {
      if constexpr (kAreTied) {
        if (!is_guessed) {
          const float guess = guess_radius();
          const bool is_wide = !is_group && guess > 0 && Walk::is_larger_than(guess);
          if (!(guess < FLT_MAX) || is_wide) break;
          if (!(radius > T(0))) radius = static_cast<T>(guess);
        }
      }
      const bool is_bounded = !(radius < task_.knn.bound);
      if (is_bounded) radius = task_.knn.bound;
      if (!is_open) radius = T(-1);
      if (i > 0 || task_.parts != nullptr) Walk::span_lanes(is_open);
      Walk::begin_with(radius, greatest_of_warp(radius));
      is_searched = Walk::walk();
      if (!is_searched) break;
      const std::uint32_t found = storage_.counts[lane_number()];
      const bool has_answer = is_open && found <= task_.capacity && (found >= task_.wanted || is_bounded);
      std::uint32_t owners = ballot(has_answer);
      if constexpr (kLists == CollectedLists::short_tied) {
        if (count_bits(owners) >= Lists::kWorthIt) owners &= ~Lists::answer_in_lanes(has_answer ? found : 0);
      }
      for (; owners != 0; owners &= owners - 1) Lists::answer(lowest_bit(owners));
      if constexpr (kAreTied) {
        const bool is_answered = i == 0 && answer_at_places(is_open && found > task_.capacity);
        is_open = is_open && !is_answered;
      }
      is_open = is_open && !has_answer;
      if constexpr (kAreTied) {  // no multiple of 0 holds more: a radius is guessed for others than those with copies
        const std::uint32_t at_places = ballot(is_open && radius == T(0));
        is_guessed = at_places == 0;
        if (!is_guessed) take_place_of(lowest_bit(at_places));
      }
      if (i > 0) growth = growth_between(factor, found_before, found);
      found_before = found;
      factor = rescaling(found, growth);
      radius *= static_cast<T>(factor);
    }
    if (is_group && is_open) task_.knn.answer.reduced[row_ * task_.knn.k] = kNotFound;
    Walk::hand_on(is_open, task_.failed, task_.failed_count);
  }

  // --- copies of one point ---

  /// Of the queries of some lanes, those at places where as many points are as are wanted. Returns whether this lane's
  /// is among them.
  __device__ __forceinline__ bool answer_at_places(bool is_asked) {
    bool is_answered = false;
    for (std::uint32_t owners = ballot(is_asked); owners != 0; owners &= owners - 1) {
      const std::uint32_t owner = lowest_bit(owners);
      T place[kDims];
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) place[d] = storage_.queries[d][owner];
      sync_warp();
      static_assert(CollectLayout::kPlaceWords >= PlaceWalk<T, kDims>::kWords);
      const std::uint32_t found = PlaceWalk<T, kDims>(tree_, place, leaders_ + CollectLayout::kLeaders)
                                      .run(task_.wanted, [&](std::uint32_t i, std::uint32_t number) {
                                        Lists::stage_.put(i, {T(0), number});
                                        Lists::order_[i] = static_cast<std::uint8_t>(i);
                                      });
      sync_warp();
      if (found < task_.wanted) continue;
      Lists::write_without_self(owner, found, Lists::order_);
      is_answered = is_answered || lane_number() == owner;
    }
    return is_answered;
  }

  /// The walk begins at the query of a lane.
  __device__ void take_place_of(std::uint32_t lane) {
    middle_ = lane;
    T row[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) row[d] = shuffle(query_[d], lane);
    const bool is_point = task_.knn.queries.rows == nullptr;
    leaf_ = is_point ? tree_.leaf_of_place(shuffle(chosen_, lane)) : Walk::near_leaf_of(row);
  }

  // A group of packets, in which most queries are copies of others: one of each packet's copies, the leader, is
  // searched for all. Its row is then copied.
  static constexpr T kNotFound = T(-1);  ///< instead of the first distance in the row of a leader that was handed on

  __device__ static std::uint32_t packet_of_group(std::uint32_t group, std::uint32_t packets) {
    return group * kPacketsPerGroup + lowest_bit(packets);
  }

  /// The lane of the copy that is searched for this lane's query. If points do not find themselves, it is the first of
  /// the tree, and of numbers: then a copy that is in the list of all is behind it, see copy_row_without.
  __device__ __forceinline__ std::uint32_t leader_of_copies() const {
    const std::uint32_t copies = Walk::lanes_with_copies();
    std::uint32_t leader = lowest_bit(copies);
    std::uint32_t places = task_.knn.filter.exclude_self ? ballot(is_there_ && leader == lane_number()) : 0;
    for (; places != 0; places &= places - 1) {
      const bool is_here = (shuffle(copies, lowest_bit(places)) >> lane_number() & 1) != 0;
      const std::uint32_t least = min_of_warp(is_here ? chosen_ : 0xffffffff);
      const std::uint32_t first = lowest_bit(ballot(is_here && chosen_ == least));
      if (is_here) leader = first;
    }
    return leader;
  }

  /// Leaders of the packets that are left, until there are enough for a packet, or no more.
  __device__ __forceinline__ void take_leaders(std::uint32_t group, std::uint32_t& packets, std::uint32_t& waiting) {
    for (; packets != 0 && waiting < kPacketQueries; packets &= packets - 1) {
      if (!Walk::load_queries(packet_of_group(group, packets))) continue;
      const bool is_leader = leader_of_copies() == lane_number() && is_there_;
      const std::uint32_t leaders = ballot(is_leader);
      if (is_leader) leaders_[waiting + count_bits(leaders & ((1u << lane_number()) - 1))] = chosen_;
      waiting += count_bits(leaders);
    }
    sync_warp();
  }

  /// The lanes take leaders that wait.
  __device__ __forceinline__ void load_leaders(std::uint32_t& waiting) {
    const std::uint32_t taken = waiting < kPacketQueries ? waiting : kPacketQueries, rest = waiting - taken;
    is_there_ = lane_number() < taken;
    chosen_ = leaders_[is_there_ ? lane_number() : taken - 1];
    const std::uint32_t moved = lane_number() < rest ? leaders_[kPacketQueries + lane_number()] : 0;
    sync_warp();
    if (lane_number() < rest) leaders_[lane_number()] = moved;
    waiting = rest;
    if (task_.knn.queries.rows == nullptr) leaf_ = tree_.leaf_of_place(chosen_);
    Walk::load_chosen();
  }

  /// What the leaders have found is that of all.
  __device__ __forceinline__ void answer_copies(std::uint32_t group) {
    const KnnAnswer<T>& answer = task_.knn.answer;
    const std::uint32_t k = task_.knn.k;
    sync_warp();  // rows of leaders are written
#pragma unroll 1
    for (std::uint32_t packets = task_.groups[group]; packets != 0; packets &= packets - 1) {
      if (!Walk::load_queries(packet_of_group(group, packets))) continue;
      const std::uint32_t leader = leader_of_copies();
      const std::uint64_t from = shuffle(row_, leader) * k, to = row_ * k;
      const std::uint32_t other = shuffle(number_, leader);
      const bool is_copy = is_there_ && leader != lane_number(),
                 is_found = is_copy && answer.reduced[from] != kNotFound;
      Walk::hand_on(is_copy && !is_found, task_.failed, task_.failed_count);
      if (!is_found) continue;
      if (!task_.knn.filter.exclude_self) {
        copy_row(answer, from, to, k);
      } else if (answer.wide != nullptr) {
        copy_row_without(answer, answer.wide, from, to, k, other, number_);
      } else {
        copy_row_without(answer, answer.indices, from, to, k, other, number_);
      }
    }
  }

  // --- the radius ---

  /// Points around a query are spread over as many dims as the quotient of their counts tells; a reduced distance grows
  /// with the count to the power of 2 / dims.
  __device__ static float growth_of(std::uint32_t found, std::uint32_t in_quarter) {
    constexpr float kLeast = 2.0f / kDims, kMost = 2;
    const float dims = std::log2(quotient(found, in_quarter));
    return dims > 1 ? greater(2 / dims, kLeast) : kMost;
  }
  /// The same from what a multiple of the radius has found.
  __device__ static float growth_between(float factor, std::uint32_t found_before, std::uint32_t found) {
    constexpr float kLeast = 1.0f / (2 * kDims), kMost = 4;
    const float growth = std::log2(factor) / std::log2(quotient(found, found_before));
    return growth > 0 ? lesser(greater(growth, kLeast), kMost) : kMost;
  }
  /// What a reduced distance that holds `found` points is to be multiplied by to hold `wanted`.
  __device__ static float share_of_reduced(std::uint32_t wanted, std::uint32_t found, float growth) {
    return std::exp2(std::log2(quotient(wanted, found)) * growth);
  }
  /// So that the next radius holds as many as are expected.
  __device__ float rescaling(std::uint32_t found, float growth) const {
    constexpr float kLeast = 1.0f / 256, kMost = 8;
    return lesser(greater(share_of_reduced(task_.expected, found, growth), kLeast), kMost);
  }
  /// Of counts, none of them 0.
  __device__ static float quotient(std::uint32_t a, std::uint32_t b) {
    return static_cast<float>(a > 0 ? a : 1) / static_cast<float>(b > 0 ? b : 1);
  }

  __device__ static T greatest_of_warp(T value) {
#pragma unroll
    for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) value = greater(value, shuffle_xor(value, step));
    return value;
  }

  /// A reduced distance that holds about as many points as are expected around the query in the midst of the packet.
  __device__ __forceinline__ float guess_radius() {
    T lower[kDims], upper[kDims], query[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      lower[d] = lower_[d];
      upper[d] = upper_[d];
      query[d] = lower_[d] = upper_[d] = shuffle(query_[d], middle_);
    }
    const float limit =
        task_.widening * radius_of_sample<kCollectGuessRows>(tree_, query, leaf_, task_.guess_levels, task_.sampled);
    const float guess = limit < FLT_MAX ? radius_within(limit, query) : limit;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) {
      lower_[d] = lower[d];
      upper_[d] = upper[d];
    }
    return guess;
  }

  /// By counting what lies within the limit: lower_ and upper_ are the query.
  __device__ __forceinline__ float radius_within(float limit, const T (&query)[kDims]) {
    sync_warp();  // the packet before is done with the storage
    ReducedHistogram reduced(reinterpret_cast<std::uint32_t*>(names_), limit);
    reach_ = static_cast<T>(limit);
    leaves_ = seen_ = 0;
    Walk::start_at_own_bottom();
    do {
      std::uint32_t count = 0;
      Walk::look_at_node(count);
      for (std::uint32_t slot = lane_number(); slot < count * most_; slot += kWarp) {
        const std::uint32_t leaf = slot * reciprocal_of(most_) >> 16, i = slot - leaf * most_;
        std::uint32_t points = 0;
        const std::byte* values = Walk::points_of(leaf, points) + i * Walk::Point::kBytes;
        if (i >= points) continue;
        const T sum = Walk::measure(query, values);
        if (sum <= reach_) reduced.add(toward_zero(sum));
      }
      sync_warp();
    } while (seen_ < Storage::kHistory && Walk::find_next_bottom());
    reduced.finish();
    const std::uint32_t found = reduced.count();
    growth_ = growth_of(found, reduced.count_in_quarter());
    const float guess = reduced.radius_of(task_.expected);
    return found < task_.expected ? guess * rescaling(found, growth_) : guess;
  }

  // --- pairs ---

  /// Points without room are counted, so that the next radius is right.
  __device__ __forceinline__ void work_off(bool is_last) {
    Walk::take_pairs(is_last, [&](std::uint32_t pair) {
      const std::uint32_t owner = pair & 31, names = shared_address(names_of(owner));
      const std::uint32_t too_many = shared_address(names_of(lane_number()) + task_.capacity);
      std::uint32_t* const counter = &storage_.counts[owner];
      static_assert(CollectLayout::kSpare >= Walk::kAtOnce);
      Walk::measure_points(
          pair, [&](const T(&)[Walk::kAtOnce], std::uint32_t name, const bool(&is_found)[Walk::kAtOnce]) {
            const std::uint32_t found = Walk::count_found(is_found), at = atomic_add(counter, found);
            std::uint32_t to = at + found > task_.capacity ? too_many : names + at * sizeof(std::uint16_t);
#pragma unroll
            for (std::uint32_t j = 0; j < Walk::kAtOnce; ++j) {
              if (is_found[j]) *at_shared<std::uint16_t>(to) = static_cast<std::uint16_t>(name + j);
              if (j + 1 < Walk::kAtOnce) to = add_if(is_found[j], to, sizeof(std::uint16_t));
            }
          });
    });
  }
  /// Names would be lost.
  __device__ bool empties_history() const { return false; }
  __device__ std::uint32_t leaves_of_wanted() const { return task_.leaves_of_wanted(); }

  std::uint32_t* leaders_;  ///< that wait, as QuerySource::chosen
};

/// As packet_blocks in packet_knn.cuh.
template <typename T>
constexpr std::uint32_t collecting_blocks(CollectedLists lists) {
  if (sizeof(T) == 4) return lists == CollectedLists::long_ones ? 10 : 8;
  return lists == CollectedLists::long_ones ? 8 : 5;
}

template <typename T, std::uint32_t kDims, CollectedLists kLists>
__global__ void __launch_bounds__(kPacketWarps* kWarp, collecting_blocks<T>(kLists))
    knn_by_collecting(const __grid_constant__ PacketTask<T> task, CollectLayout layout) {
  std::byte* memory = shared_memory() + warp_number() * layout.bytes;
  const std::uint64_t count = task.parts == nullptr ? task.packets : *task.parts_count;
  for (std::uint64_t i = search_warp(); i < count; i += search_warps()) {
    CollectingPacket<T, kDims, kLists>(task, layout, memory)
        .run(task.parts == nullptr ? PacketPart{static_cast<std::uint32_t>(i), 0xffffffff} : task.parts[i]);
  }
}

}  // namespace kith::cuda
