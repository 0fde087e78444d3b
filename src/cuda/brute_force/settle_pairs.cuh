// What becomes of the pairs of a scan: nearly all are beyond the limits of their queries, and a vote of the warp is all
// they cost. Others wait in shared memory until there are enough for a warp, which then looks at each of them closely:
// filters, ties, and a place in the list, one atomic for each.
#pragma once

#include "cuda/brute_force/scan_part.cuh"
#include "cuda/brute_force/scan_types.hpp"
#include "cuda/intrinsics.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Pairs of a warp that wait. A row of vectors, at most 4 wide, comes at a time, to fewer than a warp of others.
template <typename T>
struct WaitingPairs {
  static constexpr std::uint32_t kRoom = (16 / sizeof(T) + 1) * kWarp;

  T chains[kRoom];
  std::uint32_t numbers[kRoom];
  std::uint8_t queries[kRoom];
};

/// What settling takes of shared memory, for a block of kWarps warps and kQueries queries.
template <typename T, std::uint32_t kWarps, std::uint32_t kQueries>
struct SettleRoom {
  WaitingPairs<T> waiting[kWarps];
  std::uint32_t counts[kQueries];
};

/// The points of a thread that lie side by side: the number of the first one, and where in the scan it comes.
struct PointRun {
  std::uint64_t number = 0;
  std::uint64_t place = 0;
};

template <typename T>
__device__ bool admits_pair(const ScanTask<T>& task, std::uint64_t query, std::uint64_t point) {
  if (point >= task.points.count) return false;
  const std::uint64_t row = task.queries.row_of(query);
  const auto number = static_cast<std::uint32_t>(task.queries.first + row);
  return task.filter.admits(number, task.filter.end(number, row), static_cast<std::uint32_t>(point));
}

/// A warp takes `count` pairs that wait, from `first` on, one for each lane. A function of its own, because there is a
/// place for it behind each row of pairs.
template <typename T>
__device__ KITH_NOINLINE void take_waiting(const ScanTask<T>& task, std::uint64_t first_query,
                                           const WaitingPairs<T>& waiting, std::uint32_t first, std::uint32_t count) {
  sync_warp();
  const bool is_mine = lane_number() < count;
  T chain = T(0);
  std::uint32_t number = 0;
  std::uint64_t query = first_query;
  if (is_mine) {
    chain = waiting.chains[first + lane_number()];
    number = waiting.numbers[first + lane_number()];
    query += waiting.queries[first + lane_number()];
  }
  sync_warp();  // the next ones may come
  if (!is_mine || !admits_pair(task, query, number)) return;
  const Entry<T> entry(chain, number);
  if (task.mode == ScanMode::list) {
    const std::uint64_t start = task.starts[task.queries.row_of(query)] - task.starts_base;
    const std::uint64_t at = start + atomic_add(task.lists.counts + query, 1u);
    task.indices[at] = number;
    task.chains[at] = chain;
  } else if (entry < task.lists.limits[query]) {
    const std::uint32_t slot = atomic_add(task.lists.counts + query, 1u);
    if (slot < task.lists.capacity) task.lists.entries[query * task.lists.capacity + slot] = entry;
  }
}

/// Those of the bits whose points exist and may be found; bit 0 is the point `first`.
template <typename T>
__device__ KITH_NOINLINE std::uint32_t admitted_bits(const ScanTask<T>& task, std::uint64_t query, std::uint64_t first,
                                                     std::uint32_t bits) {
  std::uint32_t good = bits;
#pragma unroll 1
  for (; bits != 0; bits &= bits - 1) {
    if (!admits_pair(task, query, first + lowest_bit(bits))) good &= ~(bits & (0 - bits));
  }
  return good;
}

template <typename T>
class PairSettler {
 public:
  /// The block has part.queries queries; all its threads come.
  template <std::uint32_t kWarps, std::uint32_t kQueries>
  __device__ PairSettler(const ScanTask<T>& task, const ScanPart& part, SettleRoom<T, kWarps, kQueries>& room)
      : task_(task),
        part_(part),
        waiting_(room.waiting[warp_number()]),
        counts_(room.counts),
        is_place_(task.mode == ScanMode::place) {
    if (task.mode != ScanMode::count) return;
    for (std::uint32_t i = thread_number(); i < kQueries; i += kWarps * kWarp) counts_[i] = 0;
    sync_block();
  }

  /// No chain above it is of use to the query, counted from the first one of the block. NaN, which nothing is within,
  /// if there is no such query.
  __device__ T limit(std::uint32_t query) const {
    if (query >= part_.queries) return std::numeric_limits<T>::quiet_NaN();
    if (task_.mode != ScanMode::offer) return task_.bound_of(task_.queries.row_of(part_.first_query + query));
    const Entry<T> limit = task_.lists.limits[part_.first_query + query];
    return limit.is_none() ? std::numeric_limits<T>::infinity() : limit.chain();
  }

  /// The pairs of kRows queries with a run of kWidth points. `query_of(i)` counts from the first query of the block;
  /// `run()` is asked rarely. The warp comes together.
  template <std::uint32_t kRows, std::uint32_t kWidth, typename QueryOf, typename Run>
  __device__ __forceinline__ void settle(const T (&chains)[kRows][kWidth], const T (&limits)[kRows],
                                         const QueryOf& query_of, const Run& run) {
    bool is_any = is_place_, is_other = false;  // two, to be found side by side
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
      for (std::uint32_t j = 0; j < kWidth; ++j) {
        if (i % 2 == 0) {
          is_any = is_any || chains[i][j] <= limits[i];
        } else {
          is_other = is_other || chains[i][j] <= limits[i];
        }
      }
    }
    if (any_lane(is_any || is_other)) [[unlikely]] {
      const PointRun points = run();
      const bool is_plain = task_.filter.is_open() && points.number + kWidth <= task_.points.count;
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) settle_row(chains[i], limits[i], query_of(i), points, is_plain);
    }
  }

  /// All pairs have come; the block, too.
  __device__ void finish() {
    if (task_.mode == ScanMode::count) {
      sync_block();
      for (std::uint32_t i = thread_number(); i < part_.queries; i += threads_per_block()) {
        if (counts_[i] != 0) atomic_add(task_.lists.counts + part_.first_query + i, counts_[i]);
      }
    } else if (fill_ != 0) {
      take(fill_);
    }
  }

 private:
  template <std::uint32_t kWidth>
  __device__ __forceinline__ void settle_row(const T (&chains)[kWidth], T limit, std::uint32_t query,
                                             const PointRun& points, bool is_plain) {
    bool is_any = is_place_;
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) is_any = is_any || chains[j] <= limit;
    if (!any_lane(is_any)) return;
    std::uint32_t within = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) within |= (chains[j] <= limit ? 1u : 0u) << j;
    if (task_.mode == ScanMode::place || task_.mode == ScanMode::count) {
      if (query >= part_.queries) return;
      if (!is_plain) within = admitted_bits(task_, part_.first_query + query, points.number, within);
      if (task_.mode == ScanMode::count) {
        if (within != 0) atomic_add(counts_ + query, count_bits(within));
        return;
      }
      Entry<T>* to = task_.lists.entries + (part_.first_query + query) * task_.lists.capacity + points.place;
#pragma unroll
      for (std::uint32_t j = 0; j < kWidth; ++j) {
        const Entry<T> entry(chains[j], static_cast<std::uint32_t>(points.number + j));
        to[j] = (within >> j & 1) != 0 ? entry : Entry<T>::none();
      }
    } else {
#pragma unroll
      for (std::uint32_t j = 0; j < kWidth; ++j) {
        const bool is_within = (within >> j & 1) != 0;
        const std::uint32_t lanes = ballot(is_within);
        if (is_within) {
          const std::uint32_t at = fill_ + count_bits(lanes & ((1u << lane_number()) - 1));
          waiting_.chains[at] = chains[j];
          waiting_.numbers[at] = static_cast<std::uint32_t>(points.number + j);
          waiting_.queries[at] = static_cast<std::uint8_t>(query);
        }
        fill_ += count_bits(lanes);
      }
      while (fill_ >= kWarp) take(kWarp);
    }
  }

  __device__ __forceinline__ void take(std::uint32_t count) {
    fill_ -= count;
    take_waiting(task_, part_.first_query, waiting_, fill_, count);
  }

  const ScanTask<T>& task_;
  const ScanPart& part_;
  WaitingPairs<T>& waiting_;
  std::uint32_t* counts_;
  bool is_place_;
  std::uint32_t fill_ = 0;  ///< the same in all lanes
};

}  // namespace kith::cuda
