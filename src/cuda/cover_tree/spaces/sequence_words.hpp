// Sequences and sets as rows of 32-bit words, as the spaces on the GPU read them.
//
// | metric  | row                                                                                  |
// |---------|--------------------------------------------------------------------------------------|
// | edit    | length, 64 bits of counts (edit_bound.cuh), then symbols, four to a word             |
// | hamming | symbols, four to a word                                                              |
// | jaccard | how many items, 64 bits, one for each item by a hash (jaccard_space.cuh), then items |
//
// Symbols are items renumbered from 0 by ascending item. Behind the last one there are zeros.
#pragma once

#include "cuda/cover_tree/tuning.hpp"
#include "cuda/runtime/shared_limit.hpp"
#include "engine/object_searcher.hpp"

#include <kith/sequence_metric.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::cuda {

/// Words before the symbols of an edit row, and before the items of a Jaccard row.
inline constexpr std::uint32_t kHeadWords = 3;

/// kMostTableBytes where a block may have `shared_limit` bytes: one that moves objects holds two tables, and less than
/// 3 KiB beside them.
constexpr std::uint32_t most_table_bytes(std::uint32_t shared_limit) {
  constexpr std::uint32_t kBeside = 3 << 10;
  return std::min(kMostTableBytes, (shared_limit - kBeside) / 2);
}

/// How many of up to 64 items a query of so many is made of; at least one.
constexpr std::uint32_t edit_blocks(std::uint32_t length) { return length == 0 ? 1 : (length + 63) / 64; }

/// How sequences of an index, and queries to it, become rows.
class SequenceWords {
 public:
  SequenceWords() = default;
  /// Looks at the sequences of the index. `shared_limit`: bytes that a block may have. Throws UsageError if a space on
  /// the GPU does not take them.
  SequenceWords(const engine::SequenceRows& rows, SequenceMetric metric, std::uint32_t shared_limit = kMostSharedBytes);

  SequenceMetric metric() const { return metric_; }
  /// The most items that a sequence of the index has.
  std::uint32_t longest() const { return longest_; }
  /// How many symbols there are.
  std::uint32_t symbols() const { return static_cast<std::uint32_t>(alphabet_.size()); }
  /// Words of a row for sequences of up to so many items; at least one.
  std::uint32_t words_for(std::uint32_t longest) const;
  /// The most items that some sequences have, those of a batch of queries. Throws UsageError as above.
  std::uint32_t require_short(const engine::SequenceRows& rows) const;

  /// Fills rows of `words` words for sequences first to first + count.
  void pack(const engine::SequenceRows& rows, std::uint64_t first, std::uint64_t count, std::uint32_t words,
            std::uint32_t* to, int threads) const;

 private:
  void find_alphabet(const engine::SequenceRows& rows);
  void choose_bits(const engine::SequenceRows& rows);
  std::uint32_t symbol_of(std::uint32_t item) const;
  void pack_row(std::span<const std::uint32_t> row, std::uint32_t words, std::uint32_t* to,
                std::vector<std::uint32_t>& counts) const;

  std::uint32_t most_table_bytes_ = kMostTableBytes;
  SequenceMetric metric_ = SequenceMetric::edit;
  std::uint32_t longest_ = 0;
  std::vector<std::uint32_t> alphabet_;  ///< ascending
  std::vector<std::uint8_t> direct_;     ///< the symbols of small items
  std::vector<std::uint8_t> bit_of_;     ///< [symbol][count - 1]: the bit that says "at least so many", or kNoBit
};

}  // namespace kith::cuda
