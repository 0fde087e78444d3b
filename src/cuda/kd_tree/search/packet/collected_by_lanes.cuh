// Short lists of collected points, looked up and sorted by a lane each, by exact distances and numbers: for queries of
// which many end in a tie.
#pragma once

#include "cuda/kd_tree/search/packet/collected_by_warp.cuh"
#include "cuda/kd_tree/search/packet/exact_entry.cuh"
#include "cuda/primitives/sorting_network.cuh"

#include <bit>

namespace kith::cuda {

template <typename T, std::uint32_t kDims, CollectedLists kLists>
class CollectedByLanes : protected CollectedByWarp<T, kDims, kLists> {
 protected:
  using ByWarp = CollectedByWarp<T, kDims, kLists>;
  using ByWarp::ByWarp;
  using ByWarp::missing, ByWarp::names_of, ByWarp::task_;
  using typename ByWarp::Walk;
  using Walk::number_, Walk::query_, Walk::row_;

  /// Queries for which it takes lanes less than the warp: they need as long for one as for all.
  static constexpr std::uint32_t kWorthIt = 6;

  /// Answers what it can; each lane looks up and sorts the points of its own query, of which so many were found.
  /// Returns the lanes whose queries are done: not those with long lists.
  __device__ __forceinline__ std::uint32_t answer_in_lanes(std::uint32_t found) {
    if (found > kMostExact) found = 0;
    const std::uint32_t most = max_of_warp(found);
    if (most == 0) return 0;
    sort_and_write_own(found, most);
    return ballot(found > 0);
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
  __device__ std::uint32_t own_self() const { return task_.knn.filter.exclude_self ? number_ : kNoPoint; }

  static constexpr std::uint32_t kMostExact = 32;  ///< entries that a lane sorts exactly

  /// The list of this lane's query, if it found any.
  __device__ __forceinline__ void sort_and_write_own(std::uint32_t found, std::uint32_t most) {
    constexpr std::uint32_t kFew = 8;
    ExactEntry<T> entries[kMostExact];
#pragma unroll
    for (std::uint32_t first = 0; first < kMostExact; first += kFew) {
      Candidate<T> few[kFew];
      if (first < most) look_up_own(first, found, few);
#pragma unroll
      for (std::uint32_t i = 0; i < kFew; ++i) {
        const bool is_point = first + i < found && few[i].index != own_self();
        entries[first + i] = ExactEntry<T>(is_point ? few[i] : last_candidate<T>());
      }
    }
    sort_in_registers(entries);
    if (found > 0) write_own_row(entries);
  }

  /// Missing ones come last.
  __device__ __forceinline__ void write_own_row(const ExactEntry<T> (&entries)[kMostExact]) const {
    with_rows(task_.knn.answer, row_ * task_.knn.k, [&](const auto& row) {
      if constexpr (sizeof(T) == 4) {
        if (task_.knn.k % kPutTogether == 0 && task_.knn.answer.lies_well()) return write_together(entries, row);
      }
      write_each(entries, row);
    });
  }

  template <typename Row>
  __device__ __forceinline__ void write_each(const ExactEntry<T> (&entries)[kMostExact], const Row& row) const {
#pragma unroll
    for (std::uint32_t i = 0; i < kMostInLanes; ++i) {
      if (i >= task_.knn.k) break;
      row.put(i, number_or_missing(entries[i]), entries[i].candidate().distance);
    }
  }

  template <typename Row>
  __device__ __forceinline__ void write_together(const ExactEntry<T> (&entries)[kMostExact], const Row& row) const {
#pragma unroll
    for (std::uint32_t first = 0; first < kMostInLanes; first += kPutTogether) {
      if (first >= task_.knn.k) break;
      std::uint32_t numbers[kPutTogether];
      T reduced[kPutTogether];
#pragma unroll
      for (std::uint32_t i = 0; i < kPutTogether; ++i) {
        numbers[i] = number_or_missing(entries[first + i]);
        reduced[i] = entries[first + i].candidate().distance;
      }
      row.put_together(first, numbers, reduced);
    }
  }
  __device__ std::uint32_t number_or_missing(const ExactEntry<T>& entry) const {
    const std::uint32_t number = entry.candidate().index;
    return number == kNoPoint ? missing() : number;
  }
};

}  // namespace kith::cuda
