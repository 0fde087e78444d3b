// The k nearest by scans: the order of the kernels, see scan_types.hpp for the idea.
//
//   rounds: scan (reduced distances, or a filter by tensor cores and the reduced distances of what passes), select
//   those whose lists overflowed: rounds with the next filter, of sums in halves, of sums in f32, and of none; then one
//   by one (rescan.cuh)
#pragma once

#include "cuda/brute_force/scan/knn_rounds.hpp"
#include "cuda/brute_force/filter/half_sum_filter.cuh"
#include "cuda/brute_force/filter/half_sum_rows.cuh"
#include "cuda/brute_force/filter/product_filter.cuh"
#include "cuda/brute_force/filter/product_rows.cuh"
#include "cuda/brute_force/filter/rerank.cuh"
#include "cuda/brute_force/scan/rescan.cuh"
#include "cuda/brute_force/scan/scan_tiles.cuh"
#include "cuda/brute_force/scan/scanned_points.hpp"
#include "cuda/brute_force/select/select_types.hpp"
#include "cuda/queries/requests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kith::cuda {

/// What a search needs in global memory for `queries` queries at a time.
template <typename T>
struct KnnScratch {
  std::uint64_t entries_at = 0, limits_at = 0, counts_at = 0, kept_at = 0, failed_at = 0, failed_again_at = 0,
                totals_at = 0, flags_at = 0, halves_at = 0, terms_at = 0, scales_at = 0, bytes = 0;

  KnnScratch(std::uint64_t queries, std::uint32_t capacity, bool filters, std::uint32_t dims) {
    const auto take = [&](std::uint64_t& at, std::uint64_t size) {
      at = bytes;
      bytes += (size + 255) / 256 * 256;
    };
    take(entries_at, queries * capacity * sizeof(Entry<T>));
    take(limits_at, queries * sizeof(Entry<T>));
    for (std::uint64_t* words : {&counts_at, &kept_at, &failed_at, &failed_again_at}) take(*words, queries * 4);
    take(totals_at, 3 * sizeof(std::uint32_t));
    take(flags_at, queries);
    if (!filters) return;
    const std::uint64_t padded = padded_product_rows(queries);
    take(halves_at, padded * product_padded_dims(dims) * sizeof(std::uint16_t));
    take(terms_at, padded * sizeof(float));
    take(scales_at, padded * sizeof(float));
  }
};

inline constexpr std::uint32_t kListThreads = 256;

/// Empty lists: a query is offered all that its bound admits, and nothing if that is NaN.
template <typename T>
__global__ void __launch_bounds__(kListThreads)
    begin_lists(const __grid_constant__ ScanTask<T> task, std::uint8_t* flags, std::uint32_t* failed_count) {
  const std::uint64_t count = task.queries.chosen_count == nullptr ? task.queries.count : *task.queries.chosen_count;
  const std::uint64_t first = std::uint64_t{block_number()} * kListThreads + thread_number();
  if (first == 0) *failed_count = 0;
  for (std::uint64_t q = first; q < count; q += std::uint64_t{blocks_in_grid()} * kListThreads) {
    const T bound = task.bound_of(task.queries.row_of(q));
    task.lists.limits[q] = bound == bound ? Entry<T>(bound, kNoPoint) : Entry<T>::first();
    task.lists.counts[q] = 0;
    flags[q] = 0;
  }
}

/// By one warp.
template <typename Word>
__global__ void __launch_bounds__(kWarp) add_to_total(const Word* count, Word* total) {
  if (thread_number() == 0) *total += *count;
}

/// How a round finds the pairs that may lie below the limits.
enum class RoundFilter : std::uint8_t { half_sums, products, none };

/// The search for one set of queries, whose scratch memory lies at `memory`.
template <typename T, typename Launch, typename Select>
class KnnSteps {
 public:
  /// `request` has queries in rows; `rounds` are those of its k. `select(task)` puts a selection where `launch` puts
  /// kernels.
  KnnSteps(const ScannedPoints<T>& points, const KnnRequest<T>& request, const KnnRounds& rounds, std::byte* memory,
           std::uint32_t processors, const Launch& launch, const Select& select)
      : points_(points),
        request_(request),
        rounds_(rounds),
        memory_(memory),
        layout_(request.queries.count, rounds.capacity, points.product.values != nullptr, points.points.dims),
        processors_(processors),
        launch_(launch),
        select_(select) {}

  void run() {
    ScanQueries<T> queries{.rows = request_.queries.rows,
                           .row_stride = request_.queries.row_stride,
                           .count = request_.queries.count,
                           .first = request_.queries.first};
    std::uint32_t* totals = at<std::uint32_t>(layout_.totals_at);
    std::uint64_t failed_at = layout_.failed_at, failed_before_at = layout_.failed_again_at;
    RoundFilter filter = points_.half_sums.values != nullptr ? RoundFilter::half_sums
                         : points_.product.values != nullptr ? RoundFilter::products
                                                             : RoundFilter::none;
    ScanQueries<T> asked = queries;
    for (bool is_first = true;; is_first = false) {
      if (filter == RoundFilter::products) pack(asked);
      ask(asked, filter, failed_at, totals);
      if (is_first && request_.asked_again != nullptr && rounds_.ends.size() > 1) {
        launch_(add_to_total<std::uint32_t>, 1u, kWarp, std::size_t{0}, static_cast<const std::uint32_t*>(totals),
                request_.asked_again);
      }
      if (rounds_.ends.size() == 1) return;  // there was room for all points
      if (filter == RoundFilter::none) break;
      filter = filter == RoundFilter::half_sums ? RoundFilter::products : RoundFilter::none;
      asked.chosen = at<std::uint32_t>(failed_at);
      asked.chosen_count = totals++;
      std::swap(failed_at, failed_before_at);
    }
    rescan(queries, at<std::uint32_t>(failed_at), totals);
  }

 private:
  template <typename V>
  V* at(std::uint64_t offset) const {
    return reinterpret_cast<V*>(memory_ + offset);
  }
  CandidateLists<T> lists() const {
    return {at<Entry<T>>(layout_.entries_at), at<std::uint32_t>(layout_.counts_at), at<Entry<T>>(layout_.limits_at),
            rounds_.capacity};
  }
  std::uint32_t blocks_for(std::uint64_t threads) const {
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>((threads + kListThreads - 1) / kListThreads, 1, 8 * std::uint64_t{processors_}));
  }

  void pack(const ScanQueries<T>& queries) {
    if constexpr (std::is_same_v<T, float>) {
      if (rounds_.ends.size() == 1) return;
      const PackTask task{.rows = queries.rows,
                          .row_stride = queries.row_stride,
                          .count = queries.count,
                          .chosen = queries.chosen,
                          .chosen_count = queries.chosen_count,
                          .dims = points_.points.dims,
                          .centre = points_.centre,
                          .values = at<std::uint16_t>(layout_.halves_at),
                          .terms = at<float>(layout_.terms_at),
                          .scales = at<float>(layout_.scales_at)};
      launch_pack_rows(task, launch_);
      packed_ = task.packed();
    }
  }

  /// The rounds of a set of queries; those that fail are listed at `failed_at`, and `failed_count` says how many.
  void ask(const ScanQueries<T>& queries, RoundFilter filter, std::uint64_t failed_at, std::uint32_t* failed_count) {
    ScanTask<T> scan{.points = points_.points,
                     .metric = request_.metric,
                     .filter = request_.filter,
                     .queries = queries,
                     .order = points_.order,
                     .lists = lists(),
                     .bound = request_.bound,
                     .bounds = request_.bounds};
    SelectTask<T> select{.k = std::min(request_.k, rounds_.capacity),
                         .entries = scan.lists.entries,
                         .rows = queries.count,
                         .row_count = queries.chosen_count,
                         .capacity = rounds_.capacity,
                         .counts = scan.lists.counts,
                         .chosen = queries.chosen,
                         .limits = scan.lists.limits,
                         .kept = filter != RoundFilter::none ? at<std::uint32_t>(layout_.kept_at) : nullptr,
                         .failed = at<std::uint32_t>(failed_at),
                         .failed_count = failed_count,
                         .is_failed = at<std::uint8_t>(layout_.flags_at),
                         .answer = request_.answer,
                         .missing = static_cast<std::uint32_t>(points_.points.count)};
    launch_(begin_lists<T>, blocks_for(queries.count), kListThreads, std::size_t{0}, scan, select.is_failed,
            failed_count);
    for (std::size_t round = 0; round < rounds_.ends.size(); ++round) {
      const bool is_first = round == 0, is_last = round + 1 == rounds_.ends.size();
      scan.first_tile = is_first ? 0 : rounds_.ends[round - 1];
      scan.end_tile = rounds_.ends[round];
      scan.mode = is_first ? ScanMode::place : ScanMode::offer;
      if (is_first || filter == RoundFilter::none) {
        launch_scan(scan, processors_, launch_);
      } else {
        offer_filtered(scan, filter);
      }
      select.goal = is_last ? SelectGoal::finish : SelectGoal::cut;
      select.length = is_first ? static_cast<std::uint32_t>(scan.end_tile * kTilePoints) : 0;
      if (is_last) select.k = request_.k;
      select_(select);
    }
  }

  void offer_filtered(const ScanTask<T>& scan, RoundFilter filter) {
    if constexpr (std::is_same_v<T, float>) {
      if (filter == RoundFilter::half_sums) {
        launch_half_sum_filter(HalfSumTask{scan, points_.half_sums, points_.centre, at<std::uint32_t>(layout_.kept_at)},
                               processors_, launch_);
      } else {
        launch_product_filter(ProductTask{scan, points_.product, packed_}, processors_, launch_);
      }
      launch_rerank(scan, at<std::uint32_t>(layout_.kept_at), processors_, launch_);
    }
  }

  void rescan(const ScanQueries<T>& queries, const std::uint32_t* failed, const std::uint32_t* failed_count) {
    const RescanTask<T> task{.points = points_.points,
                             .metric = request_.metric,
                             .filter = request_.filter,
                             .queries = queries,
                             .bound = request_.bound,
                             .bounds = request_.bounds,
                             .k = std::min(request_.k, rounds_.capacity),
                             .lists = lists(),
                             .failed = failed,
                             .failed_count = failed_count};
    const auto blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(queries.count, 4 * processors_));
    launch_(rescan_failed<T>, blocks, kRescanThreads, rescan_shared_bytes(task), task);
    SelectTask<T> select{.goal = SelectGoal::finish,
                         .k = request_.k,
                         .entries = task.lists.entries,
                         .rows = queries.count,
                         .row_count = failed_count,
                         .capacity = rounds_.capacity,
                         .counts = task.lists.counts,
                         .chosen = failed,
                         .answer = request_.answer,
                         .missing = static_cast<std::uint32_t>(points_.points.count)};
    select_(select);
  }

  const ScannedPoints<T>& points_;
  const KnnRequest<T>& request_;
  const KnnRounds& rounds_;
  std::byte* memory_;
  KnnScratch<T> layout_;
  std::uint32_t processors_;
  const Launch& launch_;
  const Select& select_;
  ProductRows packed_;
};

}  // namespace kith::cuda
