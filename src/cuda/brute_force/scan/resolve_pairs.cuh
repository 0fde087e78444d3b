// What becomes of the pairs of a scan: nearly all are beyond the limits of their queries, and a vote of the warp is all
// they cost. A thread that has others puts them aside in shared memory, where it has room for a few of its own: no
// other thread is asked, and nothing is waited for. When a thread's buffer is nearly full, the warp looks at all that
// its threads have put aside: filters, ties, and a place in the list, one atomic for each.
#pragma once

#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Pairs that a thread has room for: at least as many as the points of a run.
template <typename T>
inline constexpr std::uint32_t kWaitingDepth = 32 / sizeof(T);

/// Pairs that the threads of a warp have put aside, each in its own column.
template <typename T, std::uint32_t kDepth>
struct WaitingPairs {
  T reduced[kDepth][kWarp];
  std::uint32_t numbers[kDepth][kWarp];
  std::uint8_t queries[kDepth][kWarp];
};

/// What resolving takes of shared memory, for a block of kWarps warps and kQueries queries.
template <typename T, std::uint32_t kWarps, std::uint32_t kQueries, std::uint32_t kDepth = kWaitingDepth<T>>
struct ResolveStorage {
  WaitingPairs<T, kDepth> waiting[kWarps];
  std::uint32_t counts[kQueries];
};

/// Which rows of a thread's pairs, each with one query, have a pair within the limit. With f32 the minimum of a row is
/// compared with it, which takes no more instructions than comparing each pair; f64 has no instruction for minima, but
/// few rows.
template <typename T, std::uint32_t kRows>
class NearRows {
 public:
  /// Pair j of row i; 0 comes first.
  __device__ __forceinline__ void add(std::uint32_t i, std::uint32_t j, T reduced, T limit) {
    if constexpr (kHasLeast) {
      least_[i] = j == 0 ? reduced : lesser(least_[i], reduced);
    } else {
      is_near_[i] = (j != 0 && is_near_[i]) || reduced <= limit;
    }
  }
  __device__ __forceinline__ bool is_near(std::uint32_t i, T limit) const {
    if constexpr (kHasLeast) {
      return least_[i] <= limit;
    } else {
      return is_near_[i];
    }
  }
  __device__ __forceinline__ bool is_any_near(const T (&limits)[kRows]) const {
    bool is_any = false, is_other = false;  // two, to be found side by side
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) {
      if (i % 2 == 0) {
        is_any = is_any || is_near(i, limits[i]);
      } else {
        is_other = is_other || is_near(i, limits[i]);
      }
    }
    return is_any || is_other;
  }
  __device__ __forceinline__ std::uint32_t near_bits(const T (&limits)[kRows]) const {
    std::uint32_t bits = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) bits |= is_near(i, limits[i]) ? 1u << i : 0u;
    return bits;
  }

 private:
  static constexpr bool kHasLeast = sizeof(T) == 4;

  T least_[kHasLeast ? kRows : 1];
  bool is_near_[kHasLeast ? 1 : kRows];
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

/// Those of the bits whose points exist and may be found; bit 0 is the point `first`.
template <typename T>
__device__ __forceinline__ std::uint32_t admitted_bits(const ScanTask<T>& task, std::uint64_t query,
                                                       std::uint64_t first, std::uint32_t bits) {
  std::uint32_t good = bits;
#pragma unroll 1
  for (; bits != 0; bits &= bits - 1) {
    if (!admits_pair(task, query, first + lowest_bit(bits))) good &= ~(bits & (0 - bits));
  }
  return good;
}

/// What resolvers share. Nothing of it is a function that is called: what is alive around a call has few registers, and
/// others would be read from memory with every pair.
template <typename T>
class ResolverBase {
 public:
  /// The block has part.queries queries and room to count kQueries; all its threads come.
  template <std::uint32_t kQueries>
  __device__ ResolverBase(const ScanTask<T>& task, const ScanPart& part, std::uint32_t (&counts)[kQueries])
      : task_(task),
        part_(part),
        counts_(counts),
        is_place_(task.mode == ScanMode::place),
        is_count_(task.mode == ScanMode::count) {
    if (!is_count_) return;
    for (std::uint32_t i = thread_number(); i < kQueries; i += threads_per_block()) counts_[i] = 0;
    sync_block();
  }

  /// No reduced distance above it is of use to the query, counted from the first one of the block. NaN, which nothing
  /// is within, if there is no such query.
  __device__ T limit(std::uint32_t query) const {
    if (query >= part_.queries) return std::numeric_limits<T>::quiet_NaN();
    if (task_.mode != ScanMode::offer) return task_.bound_of(task_.queries.row_of(part_.first_query + query));
    const Entry<T> limit = task_.lists.limits[part_.first_query + query];
    return limit.is_none() ? std::numeric_limits<T>::infinity() : limit.reduced();
  }

 protected:
  /// Which of the points are within the limit, a bit for each.
  template <std::uint32_t kWidth>
  __device__ __forceinline__ static std::uint32_t within_bits(const T (&reduced)[kWidth], T limit) {
    std::uint32_t within = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) within |= (reduced[j] <= limit ? 1u : 0u) << j;
    return within;
  }

  template <std::uint32_t kWidth>
  __device__ __forceinline__ void place_row(const T (&reduced)[kWidth], T limit, std::uint32_t query,
                                            const PointRun& points) {
    if (query >= part_.queries) return;
    std::uint32_t good = within_bits(reduced, limit);
    if (!is_plain<kWidth>(points)) good = admitted_bits(task_, part_.first_query + query, points.number, good);
    Entry<T>* to = task_.lists.entries + (part_.first_query + query) * task_.lists.capacity + points.place;
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) {
      const Entry<T> entry(reduced[j], static_cast<std::uint32_t>(points.number + j));
      to[j] = (good >> j & 1) != 0 ? entry : Entry<T>::none();
    }
  }

  /// Whether all points of a run exist and may be found by all.
  template <std::uint32_t kWidth>
  __device__ __forceinline__ bool is_plain(const PointRun& points) const {
    return task_.filter.is_open() && points.number + kWidth <= task_.points.count;
  }

  /// Points from `number` on whose bits are set are within the limit and may be found: they are counted or go to the
  /// list.
  template <std::uint32_t kWidth>
  __device__ __forceinline__ void append(std::uint32_t query_in_block, std::uint32_t number, const T (&reduced)[kWidth],
                                         std::uint32_t good) {
    if (good == 0) return;
    if (is_count_) {
      atomic_add(counts_ + query_in_block, count_bits(good));
      return;
    }
    const std::uint64_t query = part_.first_query + query_in_block;
    std::uint32_t slot = atomic_add(task_.lists.counts + query, count_bits(good));
    if (task_.mode == ScanMode::list) {
      const std::uint64_t start = task_.starts[task_.queries.row_of(query)] - task_.starts_base;
#pragma unroll
      for (std::uint32_t j = 0; j < kWidth; ++j) {
        if ((good >> j & 1) == 0) continue;
        if (task_.wide != nullptr) {
          task_.wide[start + slot] = number + j;
        } else {
          task_.indices[start + slot] = number + j;
        }
        task_.reduced[start + slot] = reduced[j];
        ++slot;
      }
    } else {
      Entry<T>* to = task_.lists.entries + query * task_.lists.capacity;
#pragma unroll
      for (std::uint32_t j = 0; j < kWidth; ++j) {
        if ((good >> j & 1) == 0) continue;
        if (slot < task_.lists.capacity) to[slot] = Entry<T>(reduced[j], number + j);
        ++slot;
      }
    }
  }

  /// Of pairs that came because of their reduced distances, those below it are within the limit: a reduced distance
  /// that equals the limit's needs a lesser number.
  __device__ __forceinline__ Entry<T> end_of(std::uint64_t query) const {
    if (task_.mode == ScanMode::offer) return task_.lists.limits[query];
    return Entry<T>(task_.bound_of(task_.queries.row_of(query)), kNoPoint);
  }

  /// What the block has counted; all its threads come.
  __device__ void finish_counts() {
    if (!is_count_) return;
    sync_block();
    for (std::uint32_t i = thread_number(); i < part_.queries; i += threads_per_block()) {
      if (counts_[i] != 0) atomic_add(task_.lists.counts + part_.first_query + i, counts_[i]);
    }
  }

  const ScanTask<T>& task_;
  const ScanPart& part_;
  std::uint32_t* counts_;
  bool is_place_, is_count_;
};

/// Reduced distances are kept until they are resolved, and single pairs wait.
template <typename T, std::uint32_t kDepth = kWaitingDepth<T>>
class PairResolver : public ResolverBase<T> {
 public:
  template <std::uint32_t kWarps, std::uint32_t kQueries>
  __device__ PairResolver(const ScanTask<T>& task, const ScanPart& part,
                          ResolveStorage<T, kWarps, kQueries, kDepth>& storage)
      : ResolverBase<T>(task, part, storage.counts), waiting_(storage.waiting[warp_number()]) {}

  /// The pairs of kRows queries with a run of kWidth points. `query_of(i)` counts from the first query of the block;
  /// `run()` is asked rarely. The warp comes together.
  template <std::uint32_t kRows, std::uint32_t kWidth, typename QueryOf, typename Run>
  __device__ __forceinline__ void resolve(const T (&reduced)[kRows][kWidth], const T (&limits)[kRows],
                                          const QueryOf& query_of, const Run& run) {
    NearRows<T, kRows> rows;
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
      for (std::uint32_t j = 0; j < kWidth; ++j) rows.add(i, j, reduced[i][j], limits[i]);
    }
    if (!any_lane(rows.is_any_near(limits) || this->is_place_)) [[likely]]
      return;
    const PointRun points = run();
    if (this->is_place_) {
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) this->place_row(reduced[i], limits[i], query_of(i), points);
      return;
    }
    std::uint32_t left = rows.near_bits(limits);  // rows to be looked at
    const bool is_plain_count = this->is_count_ && this->template is_plain<kWidth>(points);
    for (;;) {
      if (left != 0) {
#pragma unroll
        for (std::uint32_t i = 0; i < kRows; ++i) {
          if ((left >> i & 1) == 0) [[likely]]
            continue;
          if (is_plain_count) {
            atomic_add(this->counts_ + query_of(i), count_bits(this->within_bits(reduced[i], limits[i])));
          } else if (!put_aside(reduced[i], limits[i], query_of(i), points)) {
            continue;
          }
          left &= ~(1u << i);
        }
      }
      if (!any_lane(left != 0 || fill_ + 1 >= kDepth)) break;
      take();
    }
  }

  /// All pairs have come; the block, too.
  __device__ void finish() {
    take();
    this->finish_counts();
  }

 private:
  /// Whether there was room.
  template <std::uint32_t kWidth>
  __device__ __forceinline__ bool put_aside(const T (&reduced)[kWidth], T limit, std::uint32_t query,
                                            const PointRun& points) {
    static_assert(kWidth <= kDepth);
    if (fill_ + kWidth > kDepth && fill_ + count_bits(this->within_bits(reduced, limit)) > kDepth) [[unlikely]]
      return false;
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) {
      if (reduced[j] <= limit) {
        waiting_.reduced[fill_][lane_number()] = reduced[j];
        waiting_.numbers[fill_][lane_number()] = static_cast<std::uint32_t>(points.number + j);
        waiting_.queries[fill_][lane_number()] = static_cast<std::uint8_t>(query);
        ++fill_;
      }
    }
    return true;
  }

  /// The pairs that this thread has put aside.
  __device__ __forceinline__ void take() {
#pragma unroll 1
    for (std::uint32_t i = 0; i < fill_; ++i) {
      const T reduced[1] = {waiting_.reduced[i][lane_number()]};
      const std::uint32_t number = waiting_.numbers[i][lane_number()], own = waiting_.queries[i][lane_number()];
      const std::uint64_t query = this->part_.first_query + own;
      const bool is_good =
          Entry<T>(reduced[0], number) < this->end_of(query) && admits_pair(this->task_, query, number);
      this->append(own, number, reduced, is_good ? 1 : 0);
    }
    fill_ = 0;
  }

  WaitingPairs<T, kDepth>& waiting_;
  std::uint32_t fill_ = 0;  ///< of this thread's column
};

}  // namespace kith::cuda
