// What every engine offers once it is built: searches over clean points, numbered without gaps, in reduced distances.
#pragma once

#include "core/order/candidate.hpp"
#include "engine/select_method.hpp"

#include <kith/index.hpp>
#include <kith/work_times.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kith::engine {

class IndexFileWriter;  // engine/index_file/index_file_writer.hpp
template <typename T>
class DeviceSearcher;  // engine/device_searcher.hpp

/// Which points a query may find: those that pass every rule. Numbers are those of the clean points.
struct PointFilter {
  bool exclude_self = false;               ///< query i does not find point i
  bool earlier_only = false;               ///< query i finds only points below i
  const std::uint32_t* below = nullptr;    ///< query q finds only points below below[q]
  const std::uint64_t* allowed = nullptr;  ///< bit i % 64 of word i / 64: point i may be found

  bool is_open() const { return !exclude_self && !earlier_only && below == nullptr && allowed == nullptr; }
  /// Points from this number on are not for the query.
  std::uint32_t end(std::uint64_t query) const {
    std::uint32_t end = below == nullptr ? core::kNoPoint : below[query];
    if (earlier_only && query < end) end = static_cast<std::uint32_t>(query);
    return end;
  }
  /// The filter of queries that are numbered from `first` on; not of a self-search.
  PointFilter from(std::uint64_t first) const {
    PointFilter rest = *this;
    if (below != nullptr) rest.below += first;
    return rest;
  }
  bool admits(std::uint64_t query, std::uint32_t point) const {
    if (exclude_self && point == query) return false;
    return point < end(query) && (allowed == nullptr || (allowed[point / 64] >> (point % 64) & 1) != 0);
  }
};

/// How far queries look, in reduced distances: all equally far, or each as far as it says.
template <typename T>
struct Reach {
  T shared = std::numeric_limits<T>::infinity();
  const T* each = nullptr;

  T of(std::uint64_t query) const { return each == nullptr ? shared : each[query]; }
};

/// A batch of clean queries in host memory, or the points themselves. On periodic axes they lie in [0, length).
template <typename T>
struct QueryBatch {
  const T* rows = nullptr;  ///< null: every point is a query
  std::int64_t row_stride = 0;
  std::uint64_t count = 0;
  PointFilter filter;
  /// Radius searches and counts: a bound for each query, which takes the place of the one for all; null: there are
  /// none.
  const T* bounds = nullptr;

  Reach<T> reach(T bound) const { return {bound, bounds}; }
  bool is_self() const { return rows == nullptr; }
  const T* row(std::uint64_t query) const { return rows + static_cast<std::int64_t>(query) * row_stride; }
  /// Some of the queries; not of a self-search.
  QueryBatch chunk(std::uint64_t first, std::uint64_t some) const {
    QueryBatch part = *this;
    part.rows = row(first);
    part.count = some;
    part.filter = filter.from(first);
    if (bounds != nullptr) part.bounds += first;
    return part;
  }
};

/// Boxes in host memory, faces included: lower <= point <= upper.
template <typename T>
struct BoxBatch {
  const T* lower = nullptr;
  const T* upper = nullptr;
  std::int64_t lower_stride = 0;
  std::int64_t upper_stride = 0;
  std::uint64_t count = 0;
  PointFilter filter;  ///< `allowed` and `below` only

  const T* lower_of(std::uint64_t box) const { return lower + static_cast<std::int64_t>(box) * lower_stride; }
  const T* upper_of(std::uint64_t box) const { return upper + static_cast<std::int64_t>(box) * upper_stride; }
  BoxBatch chunk(std::uint64_t first, std::uint64_t some) const {
    return {lower_of(first), upper_of(first), lower_stride, upper_stride, some, filter.from(first)};
  }
};

/// The k-d tree that is searched; no dims: another engine is.
struct SearchedTree {
  std::uint32_t dims = 0;
  std::uint64_t points = 0;
};

/// What a kNN search may leave out.
template <typename T>
struct KnnRules {
  T bound = std::numeric_limits<T>::infinity();  ///< no reduced distance above it is reported
  /// In (0, 1]: once k points are found, what lies beyond the k-th reduced distance times this need not be looked at.
  /// Before, `bound` itself counts: a neighbour that is there must not be missing. 1: exact.
  T shrink = 1;
  std::uint32_t max_leaves = 0;                   ///< 0: no bound
  SelectMethod select = SelectMethod::automatic;  ///< changes nothing but the time
  bool is_probe = false;                          ///< only to see how well a tree prunes: it need not be the contract's

  bool is_exact() const { return shrink == 1 && max_leaves == 0; }
};

/// A search as far as its path depends on it, for explanations.
struct SearchShape {
  bool is_radius = false;  ///< else kNN
  bool is_self = false;
  std::uint64_t queries = 0;
  std::uint32_t k = 0;
  bool is_exact = true;     ///< neither eps nor max_leaves
  PointFilter filter = {};  ///< its arrays are not read
};

/// How the work is spread and watched.
struct RunOptions {
  int threads = 0;
  const ProgressCallback* progress = nullptr;
  WorkTimes* times = nullptr;  ///< gets the parts that only the backend knows; may be null
};

/// Lists of any length, distances still as reduced distances.
template <typename T>
struct ReducedLists {
  std::vector<std::uint64_t> offsets;  ///< queries + 1
  std::vector<std::uint32_t> indices;
  std::vector<T> reduced;
};

/// Lists of points by ascending index.
struct IndexLists {
  std::vector<std::uint64_t> offsets;  ///< requests + 1
  std::vector<std::uint32_t> indices;
};

/// Points of any content prepared for search by one engine on one device. Thread-safe. The facade (search_content.hpp)
/// has validated everything, left out bad rows and normalised for cosine; it also turns reduced distances into
/// distances.
template <typename Queries, typename T>
class ContentSearcher {
 public:
  virtual ~ContentSearcher() = default;

  /// Fills rows of `k` entries; missing ones get index `size` and infinity. `exact` (may be null) gets 1 for each query
  /// whose list is certainly exact, else 0. A single query neither allocates memory nor starts threads if the engine is
  /// a k-d tree.
  virtual void knn(const Queries& queries, std::uint32_t k, const KnnRules<T>& rules, const RunOptions& run,
                   std::uint32_t* indices, T* reduced, std::uint8_t* exact) const = 0;
  /// All points with reduced distance <= bound (or the query's own), each list sorted; with `most` > 0 only that many
  /// nearest.
  virtual ReducedLists<T> radius(const Queries& queries, T bound, std::uint32_t most, const RunOptions& run) const = 0;
  /// How many points have reduced distance <= bound (or the query's own).
  virtual void count(const Queries& queries, T bound, const RunOptions& run, std::uint32_t* counts) const = 0;

  /// Adds the engine's sections and parameters to a file; the facade has filled in the rest. The searcher outlives the
  /// writer.
  virtual void save(IndexFileWriter& writer, const RunOptions& run) const = 0;

  /// Checks what no search relies on, and loading a file does not check: of a cover tree that its centres cover and are
  /// apart as its levels say. What is wrong first, or nothing.
  virtual std::string first_violation() const { return {}; }

  virtual std::uint64_t memory_bytes() const = 0;
  /// On the CPU: what such a search allocates at most besides the answers, and besides lists of a radius search.
  virtual std::uint64_t search_bytes(const SearchShape&, int /*threads*/) const { return 0; }
  /// What this engine prepared, in one line for people.
  virtual std::string describe() const = 0;
  /// Which path such a search takes, and why a faster one does not apply, for people; empty if there is but one.
  virtual std::string explain(const SearchShape&) const { return {}; }
};

/// Points with coordinates: boxes, and arrays on a GPU.
template <typename T>
class Searcher : public ContentSearcher<QueryBatch<T>, T> {
 public:
  /// The points in each box.
  virtual IndexLists box(const BoxBatch<T>& boxes, const RunOptions& run) const = 0;
  /// How many points lie in each box.
  virtual void box_count(const BoxBatch<T>& boxes, const RunOptions& run, std::uint32_t* counts) const = 0;

  /// The same searches for arrays in the memory of a GPU; null if the index is not on one.
  virtual const DeviceSearcher<T>* on_device() const { return nullptr; }

  /// Copies all points, size x dims, in the order of their numbers.
  virtual void copy_rows(T* rows, int threads) const = 0;
};

}  // namespace kith::engine
