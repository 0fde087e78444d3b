// What becomes of the pairs of a scan if it is cheap to measure them once more: reduced distances are not kept, and
// what waits are rows, a query with a run of points, of which some pair is within the limit.
//
// A thread notes such a row in shared memory, in a buffer of its own: a few instructions, nothing is waited for. When a
// thread's buffer is full, the warp measures all rows that its threads have noted, from global memory.
#pragma once

#include "cuda/brute_force/scan/resolve_pairs.cuh"

#include <cstdint>

namespace kith::cuda {

/// Rows that the threads of a warp have noted, each in its own column.
template <std::uint32_t kDepth>
struct WaitingRows {
  std::uint32_t numbers[kDepth][kWarp];  ///< the first point
  std::uint8_t queries[kDepth][kWarp];   ///< counted from the first one of the block
};

/// What resolving takes of shared memory, for a block of kWarps warps and kQueries queries.
template <std::uint32_t kWarps, std::uint32_t kQueries, std::uint32_t kDepth>
struct ResolveRowsStorage {
  WaitingRows<kDepth> waiting[kWarps];
  std::uint32_t counts[kQueries];
};

/// Runs have kWidth points of at most kDims dims.
template <typename T, typename M, std::uint32_t kDims, std::uint32_t kWidth, std::uint32_t kDepth>
class RowResolver : public ResolverBase<T> {
 public:
  template <std::uint32_t kWarps, std::uint32_t kQueries>
  __device__ RowResolver(const ScanTask<T>& task, const ScanPart& part,
                         ResolveRowsStorage<kWarps, kQueries, kDepth>& storage)
      : ResolverBase<T>(task, part, storage.counts), waiting_(storage.waiting[warp_number()]) {}

  /// The pairs of kRows queries with a run; `rows` has seen them. `query_of(i)` counts from the first query of the
  /// block; `run()` and `measure(i, reduced)`, which gives row i once more, are asked rarely. The warp comes together.
  template <std::uint32_t kRows, typename QueryOf, typename Run, typename Measure>
  __device__ __forceinline__ void resolve(const NearRows<T, kRows>& rows, const T (&limits)[kRows],
                                          const QueryOf& query_of, const Run& run, const Measure& measure) {
    if (!any_lane(rows.is_any_near(limits) || this->is_place_)) [[likely]]
      return;
    const PointRun points = run();
    std::uint32_t left = rows.near_bits(limits);  // rows to be noted
    if (this->is_place_ || (this->is_count_ && this->template is_plain<kWidth>(points))) {
#pragma unroll
      for (std::uint32_t i = 0; i < kRows; ++i) {
        if (!this->is_place_ && (left >> i & 1) == 0) continue;
        T reduced[kWidth];
        measure(i, reduced);
        if (this->is_place_) {
          this->place_row(reduced, limits[i], query_of(i), points);
        } else {
          atomic_add(this->counts_ + query_of(i), count_bits(this->within_bits(reduced, limits[i])));
        }
      }
      left = 0;
    }
    for (;;) {
      while (left != 0 && fill_ < kDepth) {
        waiting_.numbers[fill_][lane_number()] = static_cast<std::uint32_t>(points.number);
        waiting_.queries[fill_][lane_number()] = static_cast<std::uint8_t>(query_of(lowest_bit(left)));
        ++fill_;
        left &= left - 1;
      }
      if (!any_lane(fill_ == kDepth)) break;
      take();
    }
  }

  /// All pairs have come; the block, too.
  __device__ void finish() {
    take();
    this->finish_counts();
  }

 private:
  /// The rows that this thread has noted, by halves, which leaves registers to the scan.
  __device__ __forceinline__ void take() {
    constexpr std::uint32_t kHalf = kWidth / 2;
    const ScanTask<T>& task = this->task_;
    const std::uint32_t dims = task.points.dims;
#pragma unroll 1
    for (std::uint32_t i = 0; i < 2 * fill_; ++i) {
      const std::uint32_t number = waiting_.numbers[i / 2][lane_number()] + i % 2 * kHalf;
      const std::uint32_t own = waiting_.queries[i / 2][lane_number()];
      const std::uint64_t query = this->part_.first_query + own, query_row = task.queries.row_of(query);
      const T* query_values = task.queries.rows + query_row * task.queries.row_stride;
      const Entry<T> end = this->end_of(query);
      const auto asker = static_cast<std::uint32_t>(task.queries.first + query_row);
      const std::uint32_t end_number = task.filter.end(asker, query_row);
      T reduced[kHalf] = {};
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {  // all values are on their way before the first is needed
        const T asked = d < dims ? query_values[d] : T(0);
#pragma unroll
        for (std::uint32_t j = 0; j < kHalf; ++j) {
          const std::uint64_t point = std::uint64_t{number} + j;
          const T value = d < dims && point < task.points.count ? task.points.rows[point * dims + d] : T(0);
          reduced[j] = core::step_of_pair(M{}, reduced[j], asked, value);
        }
      }
      std::uint32_t good = 0;
#pragma unroll
      for (std::uint32_t j = 0; j < kHalf; ++j) {
        reduced[j] = core::finish_sum(M{}, reduced[j]);
        const bool is_good = std::uint64_t{number} + j < task.points.count && Entry<T>(reduced[j], number + j) < end &&
                             task.filter.admits(asker, end_number, number + j);
        good |= (is_good ? 1u : 0u) << j;
      }
      this->append(own, number, reduced, good);
    }
    fill_ = 0;
  }

  WaitingRows<kDepth>& waiting_;
  std::uint32_t fill_ = 0;  ///< of this thread's column
};

}  // namespace kith::cuda
