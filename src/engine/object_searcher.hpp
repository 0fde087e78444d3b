// What a backend offers for rows of bits and for sequences: searches by distances between whole objects.
#pragma once

#include "engine/index_file/index_file.hpp"
#include "engine/searcher.hpp"

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/sequence_metric.hpp>

#include <cstdint>
#include <memory>
#include <span>

namespace kith::engine {

/// Rows of bits as searchers want them: words of 64 bits side by side, and zeros behind the last bit. A view.
struct BitRows {
  const std::uint64_t* words = nullptr;  ///< count x words_per_row
  std::uint64_t count = 0;
  std::uint32_t words_per_row = 0;

  const void* data() const { return words; }
  const std::uint64_t* row(std::uint64_t i) const { return words + i * words_per_row; }
  BitRows chunk(std::uint64_t first, std::uint64_t some) const { return {row(first), some, words_per_row}; }
};

/// Lists of numbers, which stand for letters, tokens or members of sets. A view.
struct SequenceRows {
  const std::uint32_t* items = nullptr;
  const std::uint64_t* offsets = nullptr;  ///< count + 1; list i is items[offsets[i] .. offsets[i + 1])
  std::uint64_t count = 0;

  const void* data() const { return offsets; }
  std::span<const std::uint32_t> row(std::uint64_t i) const {
    return {items + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  SequenceRows chunk(std::uint64_t first, std::uint64_t some) const { return {items, offsets + first, some}; }
};

/// Rows to prepare. They are checked: sequences under Hamming have one length, sets are sorted.
template <typename Rows>
struct ObjectBuildRequest {
  Engine engine = Engine::brute_force;  ///< or cover_tree
  SequenceMetric metric = SequenceMetric::hamming;
  Rows rows;                          ///< of sequences the first offset is 0
  std::shared_ptr<const void> owner;  ///< keeps the rows alive: a searcher that wants them holds it
  std::uint32_t leaf_size = 0;        ///< cover tree only; 0: a good one
  Device device = {};
  RunOptions run;
};

/// A file to search in, which has the rows of `made`, checked. The sections of the engine are not.
template <typename Rows>
struct ObjectLoadRequest {
  const IndexFile& file;
  ObjectBuildRequest<Rows> made;  ///< but for the leaf size
};

/// Throws CorruptFile unless the file has rows of bits and nothing else: that of brute force.
void require_rows_only(const IndexFile& file);

/// A batch of queries in host memory, or the rows themselves.
template <typename Rows>
struct ObjectQueries {
  Rows rows;  ///< without data: every row of the index is a query
  std::uint64_t count = 0;
  PointFilter filter;
  const float* bounds = nullptr;  ///< as in QueryBatch

  Reach<float> reach(float bound) const { return {bound, bounds}; }
  bool is_self() const { return rows.data() == nullptr; }
  /// Some of the queries; not of a self-search.
  ObjectQueries chunk(std::uint64_t first, std::uint64_t some) const {
    return {rows.chunk(first, some), some, filter.from(first), bounds == nullptr ? nullptr : bounds + first};
  }
};

using BitBuildRequest = ObjectBuildRequest<BitRows>;
using BitLoadRequest = ObjectLoadRequest<BitRows>;
using BitQueries = ObjectQueries<BitRows>;
using SequenceBuildRequest = ObjectBuildRequest<SequenceRows>;
using SequenceLoadRequest = ObjectLoadRequest<SequenceRows>;
using SequenceQueries = ObjectQueries<SequenceRows>;

/// Rows of bits prepared for search on one device. A bound is a number of bits, whole and finite.
class BitSearcher : public ContentSearcher<BitQueries, float> {
 public:
  /// Copies all rows, side by side.
  virtual void copy_rows(std::uint64_t* words, const RunOptions& run) const = 0;
  /// As Searcher has it.
  virtual const DeviceSearcher<float>* on_device() const { return nullptr; }
};

/// Sequences prepared for search on one device. Values are distances: whole numbers, or for Jaccard fractions. A bound
/// need not be a value, and may be infinite.
using SequenceSearcher = ContentSearcher<SequenceQueries, float>;

}  // namespace kith::engine
