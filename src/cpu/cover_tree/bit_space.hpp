// Rows of bits by the Hamming distance, as the cover tree measures them.
#pragma once

#include "cpu/cover_tree/measure_bits.hpp"
#include "cpu/cover_tree/space.hpp"
#include "engine/object_searcher.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// The caller's rows, of fewer than 2^24 bits each, outlive the space.
class BitSpace {
 public:
  using Value = float;
  using Outside = const std::uint64_t*;  ///< words_per_row words

  class Query {
    friend class BitSpace;
    const std::uint64_t* words_ = nullptr;
    std::vector<std::uint64_t> copy_;  // of one from outside
  };

  class Rows {
   public:
    Rows() = default;
    void measure(const Query& query, std::uint32_t first, std::uint32_t count, float limit, float* values) const {
      measure_bits(blocks_.data(), words_, query.words_, first, count, limit, values);
    }
    std::uint64_t memory_bytes() const { return blocks_.size() * sizeof(std::uint64_t); }

   private:
    friend class BitSpace;
    std::vector<std::uint64_t> blocks_;  // [block][word][kBitBlock]
    std::uint32_t words_ = 0;
  };

  explicit BitSpace(const engine::BitRows& rows) : rows_(rows) {}

  std::uint32_t size() const { return static_cast<std::uint32_t>(rows_.count); }
  void ask(Query& query, std::uint32_t number) const { query.words_ = rows_.row(number); }
  void ask_outside(Query& query, const Outside& outside) const {
    query.copy_.assign(outside, outside + rows_.words_per_row);
    query.words_ = query.copy_.data();
  }
  Rows arrange(std::span<const std::uint32_t> numbers, int /*threads*/) const {
    Rows rows;
    rows.words_ = rows_.words_per_row;
    rows.blocks_.resize((numbers.size() + kBitBlock - 1) / kBitBlock * kBitBlock * rows.words_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      std::uint64_t* out = rows.blocks_.data() + i / kBitBlock * kBitBlock * rows.words_ + i % kBitBlock;
      for (std::uint32_t w = 0; w < rows.words_; ++w) out[std::size_t{w} * kBitBlock] = rows_.row(numbers[i])[w];
    }
    return rows;
  }
  double metric(float value) const { return static_cast<double>(value); }
  core::CoverRounding rounding() const { return {}; }
  bool same(std::uint32_t a, std::uint32_t b) const {
    return std::equal(rows_.row(a), rows_.row(a) + rows_.words_per_row, rows_.row(b));
  }

 private:
  engine::BitRows rows_;
};

static_assert(Space<BitSpace>);

}  // namespace kith::cpu
