// What a backend offers for rows of bits: searches by the Hamming distance.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "engine/searcher.hpp"

#include <kith/device.hpp>
#include <kith/index.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace kith::engine {

/// Rows of bits as searchers want them: words of 64 bits side by side, and zeros behind the last bit.
struct BitRows {
  const std::uint64_t* words = nullptr;  ///< count x words_per_row
  std::uint64_t count = 0;
  std::uint32_t words_per_row = 0;

  const std::uint64_t* row(std::uint64_t i) const { return words + i * words_per_row; }
};

/// Rows to prepare.
struct BitBuildRequest {
  Engine engine = Engine::brute_force;  ///< or cover_tree
  BitRows rows;
  std::shared_ptr<const void> owner;  ///< keeps the rows alive: a searcher that wants them holds it
  std::uint32_t leaf_size = 0;        ///< cover tree only; 0: a good one
  Device device = {};
  RunOptions run;
};

/// A file to search in, which has the rows of `made`, checked. The sections of the engine are not.
struct BitLoadRequest {
  const IndexFile& file;
  BitBuildRequest made;  ///< but for the leaf size
};

/// Throws CorruptFile unless the file has rows of bits and nothing else: that of brute force.
void require_rows_only(const IndexFile& file);

/// A batch of queries in host memory, or the rows themselves.
struct BitQueries {
  BitRows rows;  ///< without words: every row of the index is a query
  PointFilter filter;

  bool is_self() const { return rows.words == nullptr; }
  std::uint64_t count() const { return rows.count; }
};

/// Rows of bits prepared for search on one device. Thread-safe. The facade (bit_index.cpp) has validated everything.
/// A bound is a number of bits, whole and finite.
class BitSearcher {
 public:
  virtual ~BitSearcher() = default;

  /// Fills rows of `k` entries, k at least 1; missing ones get the number of rows and infinity. `exact` (may be null)
  /// gets 1 for each query whose list is certainly exact, else 0.
  virtual void knn(const BitQueries& queries, std::uint32_t k, const KnnRules<float>& rules, const RunOptions& run,
                   std::uint32_t* indices, float* distances, std::uint8_t* exact) const = 0;
  /// All rows within the bound, each list sorted; with `most` > 0 only that many nearest.
  virtual ChainLists<float> radius(const BitQueries& queries, float bound, std::uint32_t most,
                                   const RunOptions& run) const = 0;
  /// How many rows are within the bound.
  virtual void count(const BitQueries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const = 0;

  /// Copies all rows, side by side.
  virtual void copy_rows(std::uint64_t* words, const RunOptions& run) const = 0;
  /// Adds the engine's sections and parameters to a file; the facade adds the rows. The searcher outlives the writer.
  virtual void save(IndexFileWriter& writer, const RunOptions& run) const = 0;
  /// As Searcher has it.
  virtual std::string first_violation() const { return {}; }
  virtual std::uint64_t memory_bytes() const = 0;
  /// What was prepared, in one line for people.
  virtual std::string describe() const = 0;
};

}  // namespace kith::engine
