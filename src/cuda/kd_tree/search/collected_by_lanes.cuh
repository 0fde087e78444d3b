// Lists of collected points, looked up and sorted by a lane each, as far as they are short; rows are written by the
// whole warp together where a lane would write to many places.
#pragma once

#include "cuda/kd_tree/search/collected_by_warp.cuh"
#include "cuda/kd_tree/search/exact_entry.cuh"
#include "cuda/kd_tree/search/sort_own_keys.cuh"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectedByLanes : protected CollectedByWarp<T, kDims, kLists> {
 protected:
  using ByWarp = CollectedByWarp<T, kDims, kLists>;
  using ByWarp::ByWarp;
  using ByWarp::key_without_point, ByWarp::kPlaceBits, ByWarp::missing, ByWarp::names_of, ByWarp::task_;
  using typename ByWarp::Walk;
  using Walk::number_, Walk::query_, Walk::radius_, Walk::room_, Walk::row_;

  /// Queries for which it takes lanes less than the warp: they need as long for one as for all.
  static constexpr std::uint32_t kWorthIt = kLists == CollectedLists::by_lanes_exactly ? 6 : 10;

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
    const std::uint32_t k = task_.knn.k;
    std::uint32_t* indices = task_.knn.indices + row_ * k;
    T* chains = task_.knn.chains + row_ * k;
    if constexpr (sizeof(T) == 4) {
      if (k % kVector == 0) return write_vectors(entries, indices, chains);
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kMostByKeys; ++i) {
      if (i >= k) break;
      indices[i] = number_or_missing(entries[i]);
      chains[i] = entries[i].candidate().distance;
    }
  }
  static constexpr std::uint32_t kVector = 4;  ///< entries that are written at a time

  __device__ __forceinline__ void write_vectors(const ExactEntry<T> (&entries)[kMostExact], std::uint32_t* indices,
                                                T* chains) const {
#pragma unroll
    for (std::uint32_t first = 0; first < kMostByKeys; first += kVector) {
      if (first >= task_.knn.k) break;
      PackedWords numbers, values;
#pragma unroll
      for (std::uint32_t i = 0; i < kVector; ++i) {
        numbers.words[i] = number_or_missing(entries[first + i]);
        values.words[i] = std::bit_cast<std::uint32_t>(entries[first + i].candidate().distance);
      }
      *reinterpret_cast<PackedWords*>(indices + first) = numbers;
      *reinterpret_cast<PackedWords*>(chains + first) = values;
    }
  }
  __device__ std::uint32_t number_or_missing(const ExactEntry<T>& entry) const {
    const std::uint32_t number = entry.candidate().index;
    return number == kNoNumber ? missing() : number;
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
      if ((lanes >> first & ((1u << kTogether) - 1)) == 0) continue;
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
};

}  // namespace kith::cuda
