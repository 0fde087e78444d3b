// What a backend offers for rows of bits: searches by the Hamming distance.
#pragma once

#include "engine/searcher.hpp"

#include <kith/device.hpp>

#include <cstdint>
#include <string>

namespace kith::engine {

/// Rows of bits as searchers want them: words of 64 bits side by side, and zeros behind the last bit.
struct BitRows {
  const std::uint64_t* words = nullptr;  ///< count x words_per_row
  std::uint64_t count = 0;
  std::uint32_t words_per_row = 0;

  const std::uint64_t* row(std::uint64_t i) const { return words + i * words_per_row; }
};

/// Rows to prepare. They may go when the searcher is there.
struct BitBuildRequest {
  BitRows rows;
  Device device = {};
  RunOptions run;
};

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

  /// Fills rows of `k` entries, k at least 1; missing ones get the number of rows and infinity.
  virtual void knn(const BitQueries& queries, std::uint32_t k, float bound, const RunOptions& run,
                   std::uint32_t* indices, float* distances) const = 0;
  /// All rows within the bound, each list sorted; with `most` > 0 only that many nearest.
  virtual ChainLists<float> radius(const BitQueries& queries, float bound, std::uint32_t most,
                                   const RunOptions& run) const = 0;
  /// How many rows are within the bound.
  virtual void count(const BitQueries& queries, float bound, const RunOptions& run, std::uint32_t* counts) const = 0;

  virtual std::uint64_t memory_bytes() const = 0;
  /// What was prepared, in one line for people.
  virtual std::string describe() const = 0;
};

}  // namespace kith::engine
