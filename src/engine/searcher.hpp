// What every engine offers once it is built: searches over clean points, numbered without gaps, in chain values.
#pragma once

#include "core/candidate.hpp"

#include <kith/index.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::engine {

class IndexFileWriter;  // engine/index_file/index_file_writer.hpp

/// A batch of clean queries in host memory, or the points themselves.
template <typename T>
struct QueryBatch {
  const T* rows = nullptr;  ///< null: every point is a query
  std::int64_t row_stride = 0;
  std::uint64_t count = 0;
  bool exclude_self = false;  ///< query i does not find point i

  bool is_self() const { return rows == nullptr; }
};

/// How the work is spread and watched.
struct RunOptions {
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

/// Lists of any length, distances still as chain values.
template <typename T>
struct ChainLists {
  std::vector<std::uint64_t> offsets;  ///< queries + 1
  std::vector<std::uint32_t> indices;
  std::vector<T> chains;
};

/// One set of points prepared for search by one engine on one device. Thread-safe. The facade (index.cpp) has validated
/// everything, left out bad rows and normalised for cosine; it also turns chain values into distances.
template <typename T>
class Searcher {
 public:
  virtual ~Searcher() = default;

  /// Fills rows of `k` entries; missing ones get index `size` and infinity.
  virtual void knn(const QueryBatch<T>& queries, std::uint32_t k, const RunOptions& run, std::uint32_t* indices,
                   T* chains) const = 0;
  /// All points with chain <= bound, each list sorted; with `most` > 0 only that many nearest.
  virtual ChainLists<T> radius(const QueryBatch<T>& queries, T bound, std::uint32_t most,
                               const RunOptions& run) const = 0;
  /// How many points have chain <= bound.
  virtual void count(const QueryBatch<T>& queries, T bound, const RunOptions& run, std::uint32_t* counts) const = 0;

  /// Copies all points, size x dims, in the order of their numbers.
  virtual void copy_rows(T* rows, int threads) const = 0;
  /// Adds the engine's sections and parameters to a file; the facade has filled in the rest. The searcher outlives the
  /// writer.
  virtual void save(IndexFileWriter& writer, int threads) const = 0;

  virtual std::uint64_t memory_bytes() const = 0;
  /// What this engine prepared, in one line for people.
  virtual std::string describe() const = 0;
};

}  // namespace kith::engine
