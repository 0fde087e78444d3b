// kNN by packets for longer lists: a warp collects all points within a radius of each of its 32 queries, then sorts the
// lists: short ones a lane each (sort_own_keys.cuh), others one after the other by the whole warp.
//
// 1. A radius is guessed that holds somewhat more points than are wanted: from a sample of the points around the query
//    in the midst of the packet, which is good to a factor of two, then by counting around that query alone.
// 2. The packet walks the tree (packet_walk.cuh) and notes in shared memory which points lie within the radius of each
//    query, two bytes each.
// 3. A query that found as many as are wanted, and had room for them all, has its answer among them. They are
//    looked up and sorted by 32-bit keys: the distance in 2^24 steps of the radius, and the place in the list; if many
//    are not wanted, only the lesser ones. The first k are written by the warp together. Where keys are too coarse to
//    tell points apart, exact distances and numbers decide (settle_ties.cuh).
// 4. The packet walks once more for the others, with radii that their counts suggest, and perhaps a third time.
//
// It is exact: every point up to the radius is collected, ties included, or the query is handed on: if it fails three
// times, or the packet reaches too many leaves.
//
// Warp instructions per query of 10M uniform points in 3 dims for k = 100 (about 130 collected), counted in the code
// and by hand: guess 90, walk and pairs 600, looking up 300, choosing and sorting 500, writing 100. For k = 30 (about
// 46 collected): guess 75, walk and pairs 310, looking up 65, sorting 45, writing 45.
#pragma once

#include "cuda/kd_tree/search/chain_histogram.cuh"
#include "cuda/kd_tree/search/exact_entry.cuh"
#include "cuda/kd_tree/search/packet_guess.cuh"
#include "cuda/kd_tree/search/packet_walk.cuh"
#include "cuda/kd_tree/search/settle_ties.cuh"
#include "cuda/kd_tree/search/sort_across_lanes.cuh"
#include "cuda/kd_tree/search/sort_own_keys.cuh"

#include <cfloat>
#include <cmath>
#include <type_traits>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectingPacket : PacketWalk<T, kDims, CollectingPacket<T, kDims, kLists>, leaves_of_collecting(kDims)> {
 public:
  using Room = PacketWalkRoom<T, kDims, leaves_of_collecting(kDims)>;

  /// `memory` begins with a Room; the layout tells what follows.
  __device__ CollectingPacket(const PacketTask<T>& task, const CollectLayout& layout, std::byte* memory)
      : Walk(task.knn.tree, task.knn.queries, task.packets_per_node, *reinterpret_cast<Room*>(memory)),
        task_(task),
        names_(reinterpret_cast<std::uint16_t*>(memory + layout.names_at)),
        names_stride_(layout.names_stride),
        stage_{reinterpret_cast<T*>(memory + layout.chains_at),
               reinterpret_cast<std::uint32_t*>(memory + layout.numbers_at)},
        order_(reinterpret_cast<std::uint8_t*>(memory + layout.order_at)) {}

  /// Some lanes of a packet, or all.
  __device__ __forceinline__ void run(std::uint32_t packet, std::uint32_t lanes) {
    if (!Walk::load_queries(packet)) return;
    Walk::span_packet();
    is_there_ = is_there_ && (lanes >> lane_number() & 1) != 0;
    const float guess = guess_radius();
    bool is_searched = guess < FLT_MAX && !Walk::is_larger_than(guess);
    bool is_open = is_there_;
    T radius = static_cast<T>(guess);
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
      const std::uint32_t found = room_.counts[lane_number()];
      const bool has_answer = is_open && found <= task_.room && (found >= task_.wanted || is_bounded);
      std::uint32_t asking = ballot(has_answer);
      if constexpr (kLists != CollectedLists::by_warp) asking &= ~answer_in_lanes(has_answer ? found : 0);
      for (; asking != 0; asking &= asking - 1) answer(lowest_bit(asking));
      is_open = is_open && !has_answer;
      if (i > 0) growth = growth_between(factor, found_before, found);
      found_before = found;
      factor = rescaling(found, growth);
      radius *= static_cast<T>(factor);
    }
    Walk::hand_on(is_open, task_.failed, task_.failed_count);
  }

 private:
  using Walk = PacketWalk<T, kDims, CollectingPacket<T, kDims, kLists>, leaves_of_collecting(kDims)>;
  friend Walk;
  static constexpr bool kShrinks = false, kNamesPairedOnly = true;
  using Walk::is_there_, Walk::leaf_, Walk::leaves_, Walk::lower_, Walk::middle_, Walk::most_, Walk::number_,
      Walk::radius_, Walk::query_, Walk::reach_, Walk::room_, Walk::row_, Walk::seen_, Walk::tree_, Walk::upper_;

  // --- the radius ---

  /// Points around a query are spread over as many dims as the quotient of their counts tells; a chain grows with the
  /// count to the power of 2 / dims.
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
  /// What a chain that holds `found` points is to be multiplied by to hold `wanted`.
  __device__ static float share_of_chain(std::uint32_t wanted, std::uint32_t found, float growth) {
    return std::exp2(std::log2(quotient(wanted, found)) * growth);
  }
  /// So that the next radius holds as many as are expected.
  __device__ float rescaling(std::uint32_t found, float growth) const {
    constexpr float kLeast = 1.0f / 256, kMost = 8;
    return lesser(greater(share_of_chain(task_.expected, found, growth), kLeast), kMost);
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

  /// A chain that holds about as many points as are expected around the query in the midst of the packet.
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
    sync_warp();  // the packet before is done with the room
    ChainHistogram chains(reinterpret_cast<std::uint32_t*>(names_), limit);
    const std::uint32_t reciprocal = reciprocal_of(most_);
    reach_ = static_cast<T>(limit);
    leaves_ = seen_ = 0;
    Walk::start_at_own_bottom();
    do {
      std::uint32_t count = 0;
      Walk::look_at_node(count);
      const std::uint32_t slots = count * most_;
      for (std::uint32_t first = 0; first < slots; first += Walk::kAtOnce * kWarp) {
        typename Walk::Point points[Walk::kAtOnce];  // on their way before the first is counted
        bool is_point[Walk::kAtOnce];
#pragma unroll
        for (std::uint32_t j = 0; j < Walk::kAtOnce; ++j) {
          const std::uint32_t slot = first + j * kWarp;
          if (slot < slots) is_point[j] = load_slot(slot + lane_number(), slots, reciprocal, points[j]);
        }
#pragma unroll
        for (std::uint32_t j = 0; j < Walk::kAtOnce; ++j) {
          if (first + j * kWarp >= slots) break;
          const T sum = Walk::measure(query, points[j]);
          if (is_point[j] && sum <= reach_) chains.add(toward_zero(sum));
        }
      }
      sync_warp();
    } while (seen_ < Room::kHistory && Walk::find_next_bottom());
    chains.finish();
    const std::uint32_t found = chains.count();
    growth_ = growth_of(found, chains.count_in_quarter());
    const float guess = chains.radius_of(task_.expected);
    return found < task_.expected ? guess * rescaling(found, growth_) : guess;
  }

  /// A point of the leaves in the room, which have most_ slots each; false if there is none, and the point another one.
  __device__ __forceinline__ bool load_slot(std::uint32_t slot, std::uint32_t slots, std::uint32_t reciprocal,
                                            typename Walk::Point& point) const {
    const std::uint32_t known = slot < slots ? slot : slots - 1;
    const std::uint32_t leaf = known * reciprocal >> 16, i = known - leaf * most_;
    const std::uint32_t place = room_.history[leaf], points = most_ - (place >> 31);
    point.template load<false>(tree_.packed + std::uint64_t{(place & 0x7fffffff) + i} * Walk::Point::kBytes);
    return slot < slots && i < points;
  }

  // --- pairs ---

  __device__ std::uint16_t* names_of(std::uint32_t asking) const { return names_ + asking * names_stride_; }

  /// Points without room are counted, so that the next radius is right: such a list is not read.
  __device__ __forceinline__ void work_off(bool is_last) {
    Walk::take_pairs(is_last, [&](std::uint32_t pair) {
      const std::uint32_t within = Walk::points_within(pair);
      const std::uint32_t asking = pair & 31, count = count_bits(within);
      if (count == 0) return;
      const std::uint32_t at = atomic_add(&room_.counts[asking], count);
      if (at + count > task_.room) return;
      std::uint16_t* to = names_of(asking) + at;
      Walk::name_points(pair, within, [&](std::uint16_t name) { *to++ = name; });
    });
  }
  /// Names would be lost.
  __device__ bool empties_history() const { return false; }

  // --- the answer ---

  /// Answers what it can; each lane looks up and sorts the points of its own query, of which so many were found.
  /// Returns the lanes whose queries are done: not those with long lists, or with keys that are too coarse.
  __device__ __forceinline__ std::uint32_t answer_in_lanes(std::uint32_t found) {
    constexpr bool kIsExact = kLists == CollectedLists::by_lanes_exactly;
    if (found > (kIsExact ? kMostExact : kMostOwnKeys)) found = 0;
    const std::uint32_t most = max_of_warp(found);
    if (most == 0) return 0;
    if constexpr (kIsExact) {
      sort_and_write_own(found, most);
      return ballot(found > 0);
    } else {
      const std::uint32_t sorted = ballot(sort_own_names(found, most));
      sync_warp();
      write_sorted(sorted);
      return sorted;
    }
  }

  /// Looks up a few points of this lane's query from number `first` on, of which so many were found. Behind them is
  /// something else: the first leaf has a first point in any case.
  template <std::uint32_t kCount>
  __device__ __forceinline__ void look_up_own(std::uint32_t first, std::uint32_t found,
                                              Candidate<T> (&entries)[kCount]) const {
    const std::uint16_t* names = names_of(lane_number());
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      entries[i] = Walk::look_up(first + i < found ? names[first + i] : 0, query_);
    }
    sync_warp();  // all that is read is on its way before the first is used
  }
  /// The point that this lane's query does not find.
  __device__ std::uint32_t own_self() const { return task_.knn.filter.exclude_self ? number_ : kNoNumber; }

  static constexpr std::uint32_t kMostExact = 32;  ///< entries that a lane sorts exactly

  /// The list of this lane's query, if it found any.
  __device__ __forceinline__ void sort_and_write_own(std::uint32_t found, std::uint32_t most) {
    constexpr std::uint32_t kTogether = 8;
    ExactEntry<T> entries[kMostExact];
#pragma unroll
    for (std::uint32_t first = 0; first < kMostExact; first += kTogether) {
      Candidate<T> few[kTogether];
      if (first < most) look_up_own(first, found, few);
#pragma unroll
      for (std::uint32_t i = 0; i < kTogether; ++i) {
        const bool is_point = first + i < found && few[i].index != own_self();
        entries[first + i] = ExactEntry<T>(is_point ? few[i] : last_candidate<T>());
      }
    }
    sort_in_registers(entries);
    if (found > 0) write_own_row(entries);
  }

  /// Missing ones come last.
  __device__ __forceinline__ void write_own_row(const ExactEntry<T> (&entries)[kMostExact]) const {
    constexpr std::uint32_t kVector = 4;
    const std::uint32_t k = task_.knn.k;
    std::uint32_t* indices = task_.knn.indices + row_ * k;
    T* chains = task_.knn.chains + row_ * k;
#pragma unroll
    for (std::uint32_t first = 0; first < kMostByKeys; first += kVector) {
      PackedWords numbers, values;
#pragma unroll
      for (std::uint32_t i = 0; i < kVector; ++i) {
        const Candidate<T> entry = entries[first + i].candidate();
        numbers.words[i] = entry.index == kNoNumber ? missing() : entry.index;
        if constexpr (sizeof(T) == 4) values.words[i] = std::bit_cast<std::uint32_t>(entry.distance);
        if (sizeof(T) == 4 && k % kVector == 0) continue;
        if (first + i >= k) continue;
        indices[first + i] = numbers.words[i];
        chains[first + i] = entry.distance;
      }
      if (sizeof(T) != 4 || k % kVector != 0 || first >= k) continue;
      *reinterpret_cast<PackedWords*>(indices + first) = numbers;
      *reinterpret_cast<PackedWords*>(chains + first) = values;
    }
  }

  static constexpr float kOwnSteps = 0x7f0000;  ///< of a lane's keys

  /// Like key_of, but without a conversion, which is slow: the bits of a number between 2^23 and 2^24 end with it. What
  /// is no number, because the radius is 0 or infinite, comes last.
  __device__ static std::uint32_t own_key(T distance, float scale, std::uint32_t place) {
    constexpr float kBase = 8388608, kLast = 16777215;
    const float step = lesser(std::fma(toward_zero(distance), scale, kBase), kLast);
    return (std::bit_cast<std::uint32_t>(step) << kPlaceBits) + place;
  }

  /// Puts the names of the first k into order. False if there are none, or if keys are too coarse.
  __device__ __forceinline__ bool sort_own_names(std::uint32_t found, std::uint32_t most) {
    const std::uint32_t k = task_.knn.k, self = own_self();
    const float scale = kOwnSteps / toward_zero(radius_);
    std::uint16_t* names = names_of(lane_number());
    std::uint32_t keys[kLeastOwnKeys];
    sort_own_keys(most, keys, [&](std::uint32_t first, bool is_any, auto& few) {
      constexpr std::uint32_t kCount = std::extent_v<std::remove_reference_t<decltype(few)>>;
      if (!is_any) {
#pragma unroll
        for (std::uint32_t i = 0; i < kCount; ++i) few[i] = key_without_point(first + i);
        return;
      }
      Candidate<T> entries[kCount];
      look_up_own(first, found, entries);
#pragma unroll
      for (std::uint32_t i = 0; i < kCount; ++i) {
        const bool is_point = first + i < found && entries[i].index != self;
        const std::uint32_t key = own_key(entries[i].distance, scale, first + i);
        few[i] = is_point ? key : key_without_point(first + i);
      }
    });
    bool is_sorted = found > 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kMostInLanes; ++i) {
      is_sorted = is_sorted && (i >= k || (keys[i] ^ keys[i + 1]) >> kPlaceBits != 0);
      const std::uint32_t place = keys[i] & ((1u << kPlaceBits) - 1);
      keys[i] = place < found ? names[place] : 0;  // now a name
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kMostInLanes; ++i) {
      if (i < k && is_sorted) names[i] = static_cast<std::uint16_t>(keys[i]);
    }
    return is_sorted;
  }

  /// The rows of some lanes whose names are in order.
  __device__ __forceinline__ void write_sorted(std::uint32_t lanes) {
    constexpr std::uint32_t kTogether = 4;
    const std::uint32_t k = task_.knn.k, self = task_.knn.filter.exclude_self ? 1 : 0;
    const std::uint64_t own_row_at = row_ * k;
#pragma unroll 1
    for (std::uint32_t first = 0; first < kPacketQueries; first += kTogether) {
      Candidate<T> entries[kTogether];
#pragma unroll
      for (std::uint32_t i = 0; i < kTogether; ++i) {
        const std::uint32_t asking = first + i;
        T query[kDims];
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) query[d] = room_.queries[d][asking];
        const bool is_point = (lanes >> asking & 1) != 0 && lane_number() + self < room_.counts[asking];
        entries[i] = Walk::look_up(is_point && lane_number() < k ? names_of(asking)[lane_number()] : 0, query);
        if (!is_point) entries[i] = {std::numeric_limits<T>::infinity(), missing()};
      }
#pragma unroll
      for (std::uint32_t i = 0; i < kTogether; ++i) {
        const std::uint64_t at = shuffle(own_row_at, first + i) + lane_number();
        if ((lanes >> (first + i) & 1) == 0 || lane_number() >= k) continue;
        task_.knn.indices[at] = entries[i].index;
        task_.knn.chains[at] = entries[i].distance;
      }
    }
  }
  /// The number of a neighbour that is not there.
  __device__ std::uint32_t missing() const { return static_cast<std::uint32_t>(tree_.geometry.points); }

  static constexpr std::uint32_t kShort = 2, kMiddle = 4, kLong = 8;  ///< rows of lists
  static constexpr std::uint32_t kMostRows = kLists == CollectedLists::by_warp ? kLong : kMiddle;

  /// Of the query of a lane, by the whole warp.
  __device__ __forceinline__ void answer(std::uint32_t asking) {
    const std::uint32_t self = task_.knn.filter.exclude_self ? shuffle(number_, asking) : kNoNumber;
    const std::uint32_t found = room_.counts[asking];
    std::uint32_t entries = self == kNoNumber ? found : found - 1;
    const std::uint32_t rows = (greater_of(found, task_.wanted) + kWarp - 1) / kWarp;
    std::uint32_t keys[kMostRows], few[kShort], fewer[kMiddle];
    bool is_short = rows <= kShort;
    if (is_short) {
      look_up_list(asking, found, self, few);
    } else {
      look_up_list(asking, found, self, keys);
      is_short = rows <= kMiddle && is_cut<kMiddle>(keys, found, entries, few);
    }
    bool is_coarse = false;
    if (is_short) {
      is_coarse = sort_keys(few);
    } else {
#pragma unroll
      for (std::uint32_t i = 0; i < kMiddle; ++i) fewer[i] = keys[i];
      if (kMostRows == kMiddle || rows <= kMiddle || is_cut<kMostRows - 2>(keys, found, entries, fewer)) {
        is_coarse = sort_keys(fewer);
      } else {
        is_coarse = sort_keys(keys);
      }
    }
    if (is_coarse) settle_ties<T>({stage_, found, entries, order_, order_ + kMostCollected}, task_.knn.k);
    sync_warp();
    write_row(asking, entries, is_coarse ? order_ + kMostCollected : order_);
    sync_warp();  // before the next list takes the stage
  }
  __device__ static std::uint32_t greater_of(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }

  /// Sorting fewer keys is worth more than it takes to find out which. `fewer` become all keys up to a limit, at least
  /// as many as are to be written, and `entries` how many they are; false if no such limit was found, or if the list
  /// has more than kRows rows.
  template <std::uint32_t kRows, std::uint32_t kFewer>
  __device__ __forceinline__ bool is_cut(const std::uint32_t (&keys)[kMostRows], std::uint32_t found,
                                         std::uint32_t& entries, std::uint32_t (&fewer)[kFewer]) {
    constexpr std::uint32_t kMost = kFewer * kWarp, kMargin = 12, kRounds = 4;
    const std::uint32_t k = task_.knn.k;
    if (k + kMargin > kMost || found > kRows * kWarp) return false;
    std::uint32_t low = 0, high = kSteps, limit = first_limit(k + (kMost - k) / 2, entries);
    std::uint32_t kept[kRows], count = 0;
#pragma unroll 1
    for (std::uint32_t round = 0;; ++round) {
      count = 0;
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) {
        kept[i] = ballot(keys[i] < limit << kPlaceBits);
        count += count_bits(kept[i]);
      }
      if (count >= k && count <= kMost) break;
      if (round == kRounds) return false;
      if (count < k) {
        low = limit;
      } else {
        high = limit;
      }
      limit = low + (high - low) / 2;
    }
    entries = count;
    std::uint32_t first = 0;
    auto* list = reinterpret_cast<std::uint32_t*>(order_);
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const std::uint32_t at = first + count_bits(kept[i] & ((1u << lane_number()) - 1));
      if (keys[i] < limit << kPlaceBits) list[at] = keys[i];
      first += count_bits(kept[i]);
    }
    sync_warp();
#pragma unroll
    for (std::uint32_t i = 0; i < kFewer; ++i) {
      const std::uint32_t place = i * kWarp + lane_number();
      fewer[i] = place < count ? list[place] : key_without_point(place);
    }
    return true;
  }
  /// About where `wanted` of `entries` lie, not far from all of them: three terms of the series of a power.
  __device__ std::uint32_t first_limit(std::uint32_t wanted, std::uint32_t entries) const {
    const float rest = static_cast<float>(entries - wanted) / static_cast<float>(entries);
    const float share = 1 - growth_ * rest * (1 + (1 - growth_) / 2 * rest);
    return to_unsigned(static_cast<float>(kSteps) * share);
  }

  /// Puts the places of the keys to order_, in order. True if some keys have the same distance; behind the places is
  /// then noted where a key differs from the one before.
  template <std::uint32_t kRows>
  __device__ __forceinline__ bool sort_keys(std::uint32_t (&keys)[kRows]) {
    sort_across_lanes(keys);
    struct alignas(kRows) Bytes {
      std::uint8_t values[kRows];
    };
    const std::uint32_t before = shuffle_up(keys[kRows - 1], 1);
    bool has_equals = false;
    Bytes places, differs;
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) {
      const bool is_first = i == 0 && lane_number() == 0;
      const bool is_equal = !is_first && ((i == 0 ? before : keys[i > 0 ? i - 1 : 0]) ^ keys[i]) >> kPlaceBits == 0;
      has_equals = has_equals || is_equal;
      places.values[i] = static_cast<std::uint8_t>(keys[i]);
      differs.values[i] = is_equal ? 0 : 1;
    }
    const bool is_coarse = any_lane(has_equals);
    sync_warp();  // what was cut is read
    reinterpret_cast<Bytes*>(order_)[lane_number()] = places;
    if (is_coarse) reinterpret_cast<Bytes*>(order_ + kMostCollected)[lane_number()] = differs;
    sync_warp();
    return is_coarse;
  }

  /// The first k of a list.
  __device__ __forceinline__ void write_row(std::uint32_t asking, std::uint32_t entries, const std::uint8_t* order) {
    const std::uint32_t k = task_.knn.k;
    const std::uint64_t row_at = shuffle(row_, asking) * k;
#pragma unroll 2
    for (std::uint32_t place = lane_number(); place < k; place += kWarp) {
      const Candidate<T> entry = stage_.at(order[place]);  // behind the entries: something in the warp's memory
      const bool is_point = place < entries;
      task_.knn.indices[row_at + place] = is_point ? entry.index : missing();
      task_.knn.chains[row_at + place] = is_point ? entry.distance : std::numeric_limits<T>::infinity();
    }
  }

  static constexpr std::uint32_t kPlaceBits = 8;     ///< of a key: which entry of the list it is
  static constexpr std::uint32_t kSteps = 0xff0000;  ///< of distances; keys from here on are for places without a point

  /// After all points, and no two alike.
  __device__ static std::uint32_t key_without_point(std::uint32_t place) {
    return (kSteps + place) << kPlaceBits | place;
  }

  __device__ static float steps_within(T radius) { return static_cast<float>(kSteps) / toward_zero(radius); }
  /// A product of what is not negative is monotone, whatever it is rounded to, and so is all that follows.
  __device__ static std::uint32_t key_of(T distance, float scale, std::uint32_t place) {
    const std::uint32_t step = to_unsigned(toward_zero(distance) * scale);
    return (step < kSteps ? step : kSteps - 1) << kPlaceBits | place;
  }

  /// A list that is looked up.
  struct List {
    const std::uint16_t* names;
    std::uint32_t found;
    std::uint32_t self;  ///< not to be found
    float scale;         ///< from distances to steps
    T query[kDims];
  };

  /// The exact entries of a list to the stage, and keys for them. The query itself, if it does not count, comes last.
  template <std::uint32_t kRows>
  __device__ __forceinline__ void look_up_list(std::uint32_t asking, std::uint32_t found, std::uint32_t self,
                                               std::uint32_t (&keys)[kRows]) {
    List list;
    list.names = names_of(asking);
    list.found = found;
    list.self = self;
    list.scale = steps_within(room_.queries[kDims][asking]);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) list.query[d] = room_.queries[d][asking];
    constexpr std::uint32_t kAtFirst = kRows == kLong ? kMiddle : kRows;
    look_up_rows<0, kAtFirst>(list, keys);
    if constexpr (kRows == kLong) {
      look_up_rows<kMiddle, 1>(list, keys);
      look_up_rows<kMiddle + 1, 1>(list, keys);
      look_up_rows<kMiddle + 2, 2>(list, keys);
    }
  }

  /// A few rows together: all that is read is on its way before the first is written.
  template <std::uint32_t kFirst, std::uint32_t kCount, std::uint32_t kRows>
  __device__ __forceinline__ void look_up_rows(const List& list, std::uint32_t (&keys)[kRows]) {
#pragma unroll
    for (std::uint32_t i = kFirst; i < kFirst + kCount; ++i) keys[i] = key_without_point(i * kWarp + lane_number());
    if (list.found <= kFirst * kWarp) return;
    Candidate<T> entries[kCount];
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint32_t place = (kFirst + i) * kWarp + lane_number();
      entries[i] = Walk::look_up(list.names[place < list.found ? place : list.found - 1], list.query);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint32_t place = (kFirst + i) * kWarp + lane_number();
      const bool is_point = place < list.found && entries[i].index != list.self;
      if (is_point) keys[kFirst + i] = key_of(entries[i].distance, list.scale, place);
      if (place < list.found) stage_.put(place, is_point ? entries[i] : last_candidate<T>());
    }
  }

  const PacketTask<T>& task_;
  float growth_ = 2.0f / kDims;  ///< of chains with counts, as a power; the same in all lanes
  std::uint16_t* names_;         ///< of each query in turn
  std::uint32_t names_stride_;
  AnswerEntries<T> stage_;  ///< the list that is sorted now
  std::uint8_t* order_;     ///< places in the stage, in order, then room for as many bytes
};

template <typename T, std::uint32_t kDims, CollectedLists kLists>
__global__ void __launch_bounds__(kPacketWarps* kWarp, sizeof(T) == 4 ? 8 : 5)
    knn_by_collecting(const __grid_constant__ PacketTask<T> task, CollectLayout layout) {
  std::byte* memory = shared_memory() + warp_number() * layout.bytes;
  const std::uint64_t count = task.parts == nullptr ? task.packets : *task.parts_count;
  for (std::uint64_t i = search_warp(); i < count; i += search_warps()) {
    const std::uint32_t packet = task.parts == nullptr ? static_cast<std::uint32_t>(i) : task.parts[i].packet;
    const std::uint32_t lanes = task.parts == nullptr ? 0xffffffff : task.parts[i].lanes;
    CollectingPacket<T, kDims, kLists>(task, layout, memory).run(packet, lanes);
  }
}

}  // namespace kith::cuda
