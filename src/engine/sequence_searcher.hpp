// What a backend offers for sequences: searches by edit, Hamming and Jaccard distance.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "engine/searcher.hpp"
#include "engine/sequence_rows.hpp"

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/sequence_metric.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace kith::engine {

/// Sequences to prepare. They are checked: under Hamming all have one length, sets are sorted.
struct SequenceBuildRequest {
  Engine engine = Engine::cover_tree;  ///< or brute_force
  SequenceMetric metric = SequenceMetric::edit;
  SequenceRows rows;                  ///< the first offset is 0
  std::shared_ptr<const void> owner;  ///< keeps the rows alive: a searcher that wants them holds it
  std::uint32_t leaf_size = 0;        ///< 0: the engine's own choice
  Device device = {};
  RunOptions run;
};

/// A file to search in, which has the sequences of `made`, checked. The sections of the engine are not.
struct SequenceLoadRequest {
  const IndexFile& file;
  SequenceBuildRequest made;  ///< but for the leaf size
};

/// A batch of queries in host memory, or the sequences themselves.
struct SequenceQueries {
  SequenceRows rows;  ///< without offsets: every sequence of the index is a query
  PointFilter filter;

  bool is_self() const { return rows.offsets == nullptr; }
  std::uint64_t count() const { return rows.count; }
};

/// Sequences prepared for search on one device. Thread-safe. The facade (sequence_index.cpp) has validated everything.
/// Values are distances: whole numbers, or for Jaccard fractions. A bound need not be a value, and may be infinite.
class SequenceSearcher {
 public:
  virtual ~SequenceSearcher() = default;

  /// Fills rows of `k` entries, k at least 1; missing ones get the number of sequences and infinity. `exact` (may be
  /// null) gets 1 for each query whose list is certainly exact, else 0.
  virtual void knn(const SequenceQueries& queries, std::uint32_t k, const KnnRules<float>& rules, const RunOptions& run,
                   std::uint32_t* indices, float* distances, std::uint8_t* exact) const = 0;
  /// All sequences within the bound, each list sorted; with `most` > 0 only that many nearest.
  virtual ChainLists<float> radius(const SequenceQueries& queries, float bound, std::uint32_t most,
                                   const RunOptions& run) const = 0;
  /// How many sequences are within the bound.
  virtual void count(const SequenceQueries& queries, float bound, const RunOptions& run,
                     std::uint32_t* counts) const = 0;

  /// Adds the engine's sections and parameters to a file; the facade adds the sequences. The searcher outlives the
  /// writer.
  virtual void save(IndexFileWriter& writer, const RunOptions& run) const = 0;
  /// As Searcher has it.
  virtual std::string first_violation() const { return {}; }
  /// Besides the sequences themselves.
  virtual std::uint64_t memory_bytes() const = 0;
  /// What was prepared, in one line for people.
  virtual std::string describe() const = 0;
};

}  // namespace kith::engine
