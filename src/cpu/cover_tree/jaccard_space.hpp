// Sets by the Jaccard distance: the share of the items of either that is not in both.
#pragma once

#include "cpu/cover_tree/coded_sequences.hpp"
#include "cpu/cover_tree/item_codes.hpp"
#include "cpu/cover_tree/space.hpp"
#include "engine/object_searcher.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// Of two sets of so many items, `common` of them in both: (u - i) / u rounded to f32, 0 for two empty sets.
inline float jaccard_distance(std::uint64_t size, std::uint64_t other_size, std::uint64_t common) {
  const std::uint64_t united = size + other_size - common;
  return united == 0 ? 0.0f : static_cast<float>(united - common) / static_cast<float>(united);
}

/// Copies the caller's sets, ascending and without an item twice. A query is a table of bits, one per item of all sets,
/// so a set is measured in one pass over its own items.
///
/// A signature has the bits of a set's codes modulo 64. A bit that only the first of two has stands for an item, at
/// least, that only the first set has: so common items are no more than the items of a set less the bits only it has.
class JaccardSpace {
 public:
  using Value = float;
  using Outside = std::span<const std::uint32_t>;

  class Query {
    friend class JaccardSpace;
    std::vector<std::uint32_t> codes_;
    std::vector<std::uint64_t> has_;  // one bit per code
    std::uint64_t signature_ = 0;
  };

  class Rows {
   public:
    Rows() = default;
    void measure(const Query& query, std::uint32_t first, std::uint32_t count, float limit, float* values) const {
      sequences_.visit([&](const auto* codes) {
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::uint32_t row = first + i;
          const std::uint32_t size = sequences_.length(row);
          values[i] = least_distance(query, size, signatures_[row], limit);
          if (values[i] <= limit) values[i] = measure_set(query, codes + sequences_.offsets()[row], size, limit);
        }
      });
    }
    std::uint64_t memory_bytes() const {
      return sequences_.memory_bytes() + signatures_.size() * sizeof(std::uint64_t);
    }

   private:
    friend class JaccardSpace;
    CodedSequences sequences_;
    std::vector<std::uint64_t> signatures_;
  };

  explicit JaccardSpace(const engine::SequenceRows& rows) : codes_(rows), sequences_(rows, codes_) {
    std::vector<std::uint32_t> set;
    for (std::uint32_t i = 0; i < size(); ++i) {
      sequences_.copy(i, set);
      signatures_.push_back(signature_of(set));
    }
  }

  std::uint32_t size() const { return sequences_.count(); }
  void ask(Query& query, std::uint32_t number) const {
    forget(query);
    sequences_.copy(number, query.codes_);
    prepare(query);
  }
  void ask_outside(Query& query, const Outside& outside) const {
    forget(query);
    for (const std::uint32_t item : outside) query.codes_.push_back(codes_.code_of(item));
    prepare(query);
  }
  Rows arrange(std::span<const std::uint32_t> numbers, int threads) const {
    Rows rows;
    rows.sequences_ = sequences_.taken(numbers, threads);
    rows.signatures_.reserve(numbers.size());
    for (const std::uint32_t number : numbers) rows.signatures_.push_back(signatures_[number]);
    return rows;
  }
  double metric(float value) const { return static_cast<double>(value); }
  /// Two conversions and a division.
  core::CoverRounding rounding() const { return {0x1p-22, 0}; }
  bool same(std::uint32_t a, std::uint32_t b) const { return sequences_.same(a, b); }
  std::uint64_t memory_bytes() const {
    return codes_.memory_bytes() + sequences_.memory_bytes() + signatures_.size() * sizeof(std::uint64_t);
  }

 private:
  static void forget(Query& query) {
    for (const std::uint32_t code : query.codes_) query.has_[code / 64] = 0;
    query.codes_.clear();
  }
  /// The bit behind the last code is that of all items that no set has: it is never looked at.
  void prepare(Query& query) const {
    query.has_.resize(codes_.size() / 64 + 1);
    for (const std::uint32_t code : query.codes_) query.has_[code / 64] |= std::uint64_t{1} << code % 64;
    query.signature_ = signature_of(query.codes_);
  }
  static std::uint64_t signature_of(std::span<const std::uint32_t> codes) {
    std::uint64_t signature = 0;
    for (const std::uint32_t code : codes) signature |= std::uint64_t{1} << code % 64;
    return signature;
  }
  /// Computed distances fall with the number of common items as long as floats hold all the counts.
  static bool is_monotone(std::uint64_t size, std::uint64_t other_size) {
    return size + other_size < (std::uint64_t{1} << 24);
  }
  /// Not above the distance of a query and a set.
  static float least_distance(const Query& query, std::uint32_t size, std::uint64_t signature, float limit) {
    const std::uint64_t asked = query.codes_.size();
    if (!(limit < 1) || !is_monotone(asked, size)) return 0;
    const auto only_asked = static_cast<std::uint64_t>(std::popcount(query.signature_ & ~signature));
    const auto only_set = static_cast<std::uint64_t>(std::popcount(signature & ~query.signature_));
    return jaccard_distance(asked, size, std::min(asked - only_asked, size - only_set));
  }

  /// Gives up when the distance is beyond the limit even if all other items are common.
  template <typename Code>
  static float measure_set(const Query& query, const Code* set, std::uint32_t size, float limit) {
    constexpr std::uint32_t kAtOnce = 64;
    const std::uint64_t asked = query.codes_.size();
    const bool may_give_up = limit < 1 && is_monotone(asked, size);
    std::uint64_t common = 0;
    for (std::uint32_t start = 0; start < size; start += kAtOnce) {
      if (may_give_up) {
        const float least = jaccard_distance(asked, size, std::min<std::uint64_t>(asked, common + size - start));
        if (least > limit) return least;
      }
      const std::uint32_t end = std::min(size, start + kAtOnce);
      for (std::uint32_t i = start; i < end; ++i) common += query.has_[set[i] / 64] >> set[i] % 64 & 1;
    }
    return jaccard_distance(asked, size, common);
  }

  ItemCodes codes_;
  CodedSequences sequences_;
  std::vector<std::uint64_t> signatures_;
};

static_assert(Space<JaccardSpace>);

}  // namespace kith::cpu
