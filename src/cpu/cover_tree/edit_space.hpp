// Sequences by the edit distance (Levenshtein): insertions, deletions and replacements of single items.
#pragma once

#include "cpu/cover_tree/coded_sequences.hpp"
#include "cpu/cover_tree/edit_pattern.hpp"
#include "cpu/cover_tree/edit_signature.hpp"
#include "cpu/cover_tree/item_codes.hpp"
#include "cpu/cover_tree/measure_edits.hpp"
#include "cpu/cover_tree/space.hpp"
#include "engine/object_searcher.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// Copies the caller's sequences, which have fewer than 2^24 items each: a float tells distances up to there.
class EditSpace {
 public:
  using Value = float;
  using Outside = std::span<const std::uint32_t>;

  class Query {
    friend class EditSpace;
    std::vector<std::uint32_t> codes_;
    EditPattern pattern_;
    std::uint64_t signature_ = 0;
  };

  class Rows {
   public:
    Rows() = default;
    void measure(const Query& query, std::uint32_t first, std::uint32_t count, float limit, float* values) const {
      measure_edits({.pattern = &query.pattern_,
                     .pattern_signature = query.signature_,
                     .sequences = &sequences_,
                     .signatures = signatures_.data(),
                     .first = first,
                     .count = count,
                     .limit = limit},
                    values);
    }
    std::uint64_t memory_bytes() const {
      return sequences_.memory_bytes() + signatures_.size() * sizeof(std::uint64_t);
    }

   private:
    friend class EditSpace;
    CodedSequences sequences_;
    std::vector<std::uint64_t> signatures_;
  };

  explicit EditSpace(const engine::SequenceRows& rows);

  std::uint32_t size() const { return sequences_.count(); }
  void ask(Query& query, std::uint32_t number) const;
  void ask_outside(Query& query, const Outside& outside) const;
  Rows arrange(std::span<const std::uint32_t> numbers, int threads) const;
  double metric(float value) const { return static_cast<double>(value); }
  core::CoverRounding rounding() const { return {}; }
  bool same(std::uint32_t a, std::uint32_t b) const { return sequences_.same(a, b); }
  std::uint64_t memory_bytes() const {
    return codes_.memory_bytes() + sequences_.memory_bytes() + signatures_.size() * sizeof(std::uint64_t);
  }

 private:
  ItemCodes codes_;
  EditSignature signature_;
  CodedSequences sequences_;
  std::vector<std::uint64_t> signatures_;
};

static_assert(Space<EditSpace>);

}  // namespace kith::cpu
