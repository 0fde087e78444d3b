// Lists of collected points, looked up and sorted by the whole warp, one after the other.
//
// The exact entries of a list go to a stage in shared memory, 32-bit keys for them stay in registers. Sorting puts down
// the order of the entries, by which the first k are written.
#pragma once

#include "cuda/kd_tree/search/packet/packet_walk.cuh"
#include "cuda/kd_tree/search/warp/resolve_ties.cuh"
#include "cuda/primitives/sort_across_lanes.cuh"
#include "cuda/queries/put_answer.cuh"

#include <limits>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectingPacket;  // packet_collect.cuh

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectedByWarp
    : protected PacketWalk<T, kDims, CollectingPacket<T, kDims, kLists>, leaves_of_collecting(kDims)> {
 protected:
  using Walk = PacketWalk<T, kDims, CollectingPacket<T, kDims, kLists>, leaves_of_collecting(kDims)>;
  using Storage = typename Walk::Storage;
  using Walk::number_, Walk::storage_, Walk::row_, Walk::tree_;

  /// `memory` begins with a Storage; the layout tells what follows.
  __device__ CollectedByWarp(const PacketTask<T>& task, const CollectLayout& layout, std::byte* memory)
      : Walk(task.knn.tree, task.knn.queries, task.packets_per_node, *reinterpret_cast<Storage*>(memory)),
        task_(task),
        names_(reinterpret_cast<std::uint16_t*>(memory + layout.names_at)),
        names_stride_(layout.names_stride),
        stage_{reinterpret_cast<T*>(memory + layout.reduced_at),
               reinterpret_cast<std::uint32_t*>(memory + layout.numbers_at)},
        order_(reinterpret_cast<std::uint8_t*>(memory + layout.order_at)) {}

  __device__ std::uint16_t* names_of(std::uint32_t owner) const { return names_ + owner * names_stride_; }

  /// The number of a neighbour that is not there.
  __device__ std::uint32_t missing() const { return static_cast<std::uint32_t>(tree_.geometry.points); }

  static constexpr std::uint32_t kShort = 2, kMiddle = 4, kLong = 8;  ///< rows of lists
  static constexpr std::uint32_t kMostRows = kLists == CollectedLists::long_ones   ? kLong
                                             : kLists == CollectedLists::long_tied ? kMiddle
                                                                                   : kShort;

  /// Of tied lists some copies of a point are left out: a query that is not to find itself may be among them or not. So
  /// it is left out at the end.
  static constexpr bool kLeavesOutLast = kLists != CollectedLists::long_ones;
  __device__ std::uint32_t sorted() const { return kLeavesOutLast ? task_.wanted : task_.knn.k; }

  /// Of the query of a lane, by the whole warp.
  __device__ __forceinline__ void answer(std::uint32_t owner) {
    const bool is_excluded = task_.knn.filter.exclude_self && !kLeavesOutLast;
    const std::uint32_t self = is_excluded ? shuffle(number_, owner) : kNoPoint;
    const std::uint32_t found = storage_.counts[owner];
    std::uint32_t entries = is_excluded ? found - 1 : found;
    std::uint32_t few[kShort];
    bool is_coarse = false;
    if constexpr (kMostRows == kShort) {
      look_up_list(owner, found, self, few);
      is_coarse = sort_keys(few);
    } else {
      const std::uint32_t rows = (greater_of(found, task_.wanted) + kWarp - 1) / kWarp;
      std::uint32_t keys[kMostRows], fewer[kMiddle];
      bool is_short = rows <= kShort;
      if (is_short) {
        look_up_list(owner, found, self, few);
      } else {
        look_up_list(owner, found, self, keys);
        is_short = rows <= kMiddle && is_cut<kMiddle>(keys, found, entries, few);
      }
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
    }
    if (is_coarse) resolve_ties<T>({stage_, found, entries, order_, order_ + kMostCollected}, sorted());
    sync_warp();
    const std::uint8_t* order = is_coarse ? order_ + kMostCollected : order_;
    if constexpr (kLeavesOutLast) {
      write_without_self(owner, entries, order);
    } else {
      write_row(owner, entries, order);
    }
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
    const std::uint32_t k = sorted();
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
  __device__ __forceinline__ void write_row(std::uint32_t owner, std::uint32_t entries, const std::uint8_t* order) {
    const std::uint32_t k = task_.knn.k;
    with_rows(task_.knn.answer, shuffle(row_, owner) * k, [&](const auto& row) {
#pragma unroll 2
      for (std::uint32_t place = lane_number(); place < k; place += kWarp) {
        const Candidate<T> entry = stage_.at(order[place]);  // behind the entries: something in the warp's memory
        const bool is_point = place < entries;
        row.put(place, is_point ? entry.index : missing(),
                is_point ? entry.distance : std::numeric_limits<T>::infinity());
      }
    });
  }

  /// The same, without the query itself if that is so: then there is one entry more, and those behind it move up.
  __device__ __forceinline__ void write_without_self(std::uint32_t owner, std::uint32_t entries,
                                                     const std::uint8_t* order) {
    const std::uint32_t k = task_.knn.k, number = shuffle(number_, owner);
    std::uint32_t self = task_.wanted;
    for (std::uint32_t first = 0; task_.wanted > k && first < task_.wanted; first += kWarp) {
      const std::uint32_t place = first + lane_number();
      const bool is_there = place < task_.wanted && place < entries;
      const std::uint32_t is_self = ballot(is_there && stage_.at(order[is_there ? place : 0]).index == number);
      if (is_self != 0) self = first + lowest_bit(is_self);
    }
    with_rows(task_.knn.answer, shuffle(row_, owner) * k, [&](const auto& row) {
      for (std::uint32_t place = lane_number(); place < k; place += kWarp) {
        const std::uint32_t from = place < self ? place : place + 1;
        const bool is_point = from < entries;
        const Candidate<T> entry = stage_.at(order[is_point ? from : 0]);
        row.put(place, is_point ? entry.index : missing(),
                is_point ? entry.distance : std::numeric_limits<T>::infinity());
      }
    });
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
  __device__ __forceinline__ void look_up_list(std::uint32_t owner, std::uint32_t found, std::uint32_t self,
                                               std::uint32_t (&keys)[kRows]) {
    List list;
    list.names = names_of(owner);
    list.found = found;
    list.self = self;
    list.scale = steps_within(storage_.queries[kDims][owner]);
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) list.query[d] = storage_.queries[d][owner];
    // As many as there are in most lists: of k = 50 three rows, of k = 100 five.
    look_up_rows<0, kRows == kShort ? 2 : 3>(list, keys);
    if constexpr (kRows == kMiddle) look_up_rows<3, 1>(list, keys);
    if constexpr (kRows == kLong) {
      look_up_rows<3, 2>(list, keys);
      look_up_rows<5, 1>(list, keys);
      look_up_rows<6, 2>(list, keys);
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
  float growth_ = 2.0f / kDims;  ///< of reduced distances with counts, as a power; the same in all lanes
  std::uint16_t* names_;         ///< of each query in turn
  std::uint32_t names_stride_;
  AnswerEntries<T> stage_;  ///< the list that is sorted now
  std::uint8_t* order_;     ///< places in the stage, in order, then room for as many bytes
};

}  // namespace kith::cuda
