// What a search on the GPU is asked: the metric, the filters, the queries, and where the answers go. Plain data, for
// host and device; all arrays are in device memory.
#pragma once

#include "core/host_device.hpp"
#include "core/metric/metrics.hpp"
#include "core/order/candidate.hpp"
#include "cuda/queries/knn_answer.hpp"

#include <cstdint>

namespace kith::cuda {

using core::kNoPoint;

/// How distances are measured; known at run time only.
template <typename T>
struct SearchMetric {
  Metric::Kind kind = Metric::Kind::l2;  ///< one that searches compare by
  double p = 2;
  const T* lengths = nullptr;  ///< of periodic axes, in device memory; null: plain axes
  bool is_hamming = false;     ///< f32: the rows are words whose different bits count, whatever the rest says

  /// Cosine and angular, too, are searched by L2.
  static SearchMetric of(Metric metric, const T* lengths = nullptr) {
    return {core::kind_of_reduction(metric), metric.p(), lengths};
  }
  bool is_plain_l2() const { return kind == Metric::Kind::l2 && lengths == nullptr && !is_hamming; }
};

/// Which points a query may find: engine::PointFilter in device memory.
struct SearchFilter {
  bool exclude_self = false;
  bool earlier_only = false;
  const std::uint32_t* below = nullptr;    ///< per row of the answer
  const std::uint64_t* allowed = nullptr;  ///< a bit per point

  KITH_HOST_DEVICE bool is_open() const {
    return !exclude_self && !earlier_only && below == nullptr && allowed == nullptr;
  }
  /// Points from this number on are not for the query `number`, whose answer is in `row`.
  KITH_HOST_DEVICE std::uint32_t end(std::uint32_t number, std::uint64_t row) const {
    std::uint32_t end = below == nullptr ? kNoPoint : below[row];
    if (earlier_only && number < end) end = number;
    return end;
  }
  KITH_HOST_DEVICE bool admits(std::uint32_t number, std::uint32_t end, std::uint32_t point) const {
    if (exclude_self && point == number) return false;
    return point < end && (allowed == nullptr || (allowed[point / 64] >> (point % 64) & 1) != 0);
  }
};

/// The queries of one launch. Those of a self-search are points: a tree knows them by their places in its order, a scan
/// by their numbers; their answers go to rows by number, `first` to row 0. Other queries lie in rows.
template <typename T>
struct QuerySource {
  const T* rows = nullptr;  ///< null: a self-search
  std::uint64_t row_stride = 0;
  std::uint64_t count = 0;
  const std::uint32_t* chosen = nullptr;        ///< the rows or places to search, in this order; null: all
  const std::uint32_t* chosen_count = nullptr;  ///< how many, if only the device knows; `count` is the most then
  std::uint32_t first = 0;
};

/// The k nearest: rows of k entries; missing ones get the number of points and infinity.
template <typename T>
struct KnnRequest {
  SearchMetric<T> metric = {};
  SearchFilter filter = {};
  QuerySource<T> queries = {};
  std::uint32_t k = 0;
  T bound = 0;                ///< no reduced distance above it is reported
  const T* bounds = nullptr;  ///< or, if not null, above that of the row of the answer
  KnnAnswer<T> answer = {};
  std::uint32_t* asked_again = nullptr;  ///< grows by the queries that took the slow path; null: not counted
  std::uint64_t* evaluations = nullptr;  ///< the same for distances measured, by engines that count them

  KITH_HOST_DEVICE T bound_of(std::uint64_t row) const { return bounds == nullptr ? bound : bounds[row]; }
};

/// Everything within a bound: first how many, then what.
template <typename T>
struct RadiusRequest {
  SearchMetric<T> metric = {};
  SearchFilter filter = {};
  QuerySource<T> queries = {};
  T bound = 0;
  const T* bounds = nullptr;              ///< per row of the answer; null: `bound` for all
  std::uint32_t* counts = nullptr;        ///< written by the first request
  const std::uint64_t* starts = nullptr;  ///< read by the second one: where each list begins, and the last one ends
  std::uint64_t starts_base = 0;          ///< subtracted from `starts`
  std::uint32_t* indices = nullptr;
  T* reduced = nullptr;
  bool takes_roots = false;              ///< as in KnnAnswer
  std::int64_t* wide = nullptr;          ///< as in KnnAnswer
  std::uint64_t* evaluations = nullptr;  ///< as in KnnRequest

  KITH_HOST_DEVICE T bound_of(std::uint64_t row) const { return bounds == nullptr ? bound : bounds[row]; }
};

/// Points in boxes, faces included: first how many, then which.
template <typename T>
struct BoxRequest {
  SearchFilter filter = {};  ///< `allowed` and `below` only
  const T* lower = nullptr;  ///< count x dims
  const T* upper = nullptr;
  std::uint64_t count = 0;
  std::uint32_t* counts = nullptr;
  const std::uint64_t* starts = nullptr;
  std::uint64_t starts_base = 0;
  std::uint32_t* indices = nullptr;
};

}  // namespace kith::cuda
