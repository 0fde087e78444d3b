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
#include "cuda/kd_tree/search/packet/packet_guess.cuh"
#include "cuda/kd_tree/search/packet/packet_walk.cuh"

#include <bit>
#include <cfloat>
#include <cmath>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectingPacket : CollectedByLanes<T, kDims, kLists> {
 public:
  using Storage = PacketWalkStorage<T, kDims, leaves_of_collecting(kDims)>;

  __device__ CollectingPacket(const PacketTask<T>& task, const CollectLayout& layout, std::byte* memory)
      : CollectedByLanes<T, kDims, kLists>(task, layout, memory) {}

  /// Some lanes of a packet, or all. `has_radii`: kHasRadii.
  __device__ __forceinline__ void run(std::uint32_t packet, std::uint32_t lanes, bool has_radii) {
    if (!Walk::load_queries(packet)) return;
    Walk::span_packet();
    is_there_ = is_there_ && (lanes >> lane_number() & 1) != 0;
    if constexpr (kLists == CollectedLists::long_ones) {
      search(is_there_, 0, false);
    } else {
      const std::uint32_t copies = lanes_with_copies();
      std::uint32_t firsts = ballot(is_there_ && lowest_bit(copies) == lane_number());
      // Worth it if most places have as many as are wanted: then no radius is guessed.
      const bool are_many = !has_radii && count_bits(firsts) * task_.wanted <= count_bits(ballot(is_there_));
      do {
        if (are_many) take_place_of(lowest_bit(firsts));
        search(are_many ? lane_number() == middle_ : is_there_, are_many ? shuffle(copies, middle_) : 0, has_radii);
        firsts &= firsts - 1;
      } while (are_many && firsts != 0);
    }
  }

 private:
  using Lists = CollectedByLanes<T, kDims, kLists>;
  using typename Lists::Walk;
  friend Walk;
  friend typename Walk::Points;
  static constexpr bool kShrinks = false, kNamesPairedOnly = true, kIsGeneral = false,
                        kSkipsCopies = kLists == CollectedLists::tied_ones;
  using Lists::growth_, Lists::names_, Lists::names_of, Lists::task_;
  using Walk::chosen_, Walk::is_there_, Walk::leaf_, Walk::leaves_, Walk::lower_, Walk::middle_, Walk::most_,
      Walk::query_, Walk::reach_, Walk::row_, Walk::storage_, Walk::seen_, Walk::tree_, Walk::upper_;

  /// The queries of some lanes; `members` are the copies of the one that is searched, or 0.
  __device__ __forceinline__ void search(bool is_open, std::uint32_t members, bool has_radii) {
    T radius = T(0);
    bool is_searched = true;
    if (has_radii) {
      if (is_open) radius = task_.knn.answer.reduced[row_ * task_.knn.k];
    } else if (count_bits(members) < task_.wanted) {
      const float guess = guess_radius();
      is_searched = guess < FLT_MAX && !Walk::is_larger_than(guess);
      radius = static_cast<T>(guess);
    }
    constexpr std::uint32_t kWalks = 3;
    std::uint32_t found_before = 0;
    float growth = growth_, factor = 1;
#pragma unroll 1
    for (std::uint32_t i = 0; i < kWalks && is_searched && any_lane(is_open); ++i) {
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
      if constexpr (kLists == CollectedLists::tied_ones) {
        if (task_.knn.k <= kMostInLanes && count_bits(owners) >= Lists::kWorthIt) {
          owners &= ~Lists::answer_in_lanes(has_answer ? found : 0);
        }
      }
      for (; owners != 0; owners &= owners - 1) {
        const std::uint32_t owner = lowest_bit(owners);
        Lists::answer(owner, members == 0 ? 1u << owner : members);
      }
      is_open = is_open && !has_answer;
      if (i > 0) growth = growth_between(factor, found_before, found);
      found_before = found;
      factor = rescaling(found, growth);
      radius *= static_cast<T>(factor);
    }
    const std::uint32_t open = ballot(is_open);
    const bool is_member = open != 0 && (members >> lane_number() & 1) != 0;
    Walk::hand_on(members == 0 ? is_open : is_member, task_.failed, task_.failed_count);
  }

  // --- copies of one point ---

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
  /// The packet becomes the query of a lane.
  __device__ void take_place_of(std::uint32_t lane) {
    middle_ = lane;
    T row[kDims];
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) row[d] = lower_[d] = upper_[d] = shuffle(query_[d], lane);
    const bool is_point = task_.knn.queries.rows == nullptr;
    leaf_ = is_point ? tree_.leaf_of_place(shuffle(chosen_, lane)) : Walk::near_leaf_of(row);
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
    const PacketPart part =
        task.parts == nullptr ? PacketPart{static_cast<std::uint32_t>(i), 0xffffffff} : task.parts[i];
    CollectingPacket<T, kDims, kLists>(task, layout, memory)
        .run(part.packet & ~kHasRadii, part.lanes, (part.packet & kHasRadii) != 0);
  }
}

}  // namespace kith::cuda
