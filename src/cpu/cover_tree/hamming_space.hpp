// Sequences of equal length by the number of places where they differ.
#pragma once

#include "cpu/cover_tree/coded_sequences.hpp"
#include "cpu/cover_tree/item_codes.hpp"
#include "cpu/cover_tree/space.hpp"
#include "engine/object_searcher.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// Copies the caller's sequences, all of the same length, below 2^24; those from outside have it, too.
class HammingSpace {
 public:
  using Value = float;
  using Outside = std::span<const std::uint32_t>;

  class Query {
    friend class HammingSpace;
    std::vector<std::uint32_t> codes_;
    std::vector<std::uint16_t> codes_16_;
    std::vector<std::uint8_t> codes_8_;
    std::span<const std::uint32_t> as(std::uint32_t) const { return codes_; }
    std::span<const std::uint16_t> as(std::uint16_t) const { return codes_16_; }
    std::span<const std::uint8_t> as(std::uint8_t) const { return codes_8_; }
  };

  class Rows {
   public:
    Rows() = default;
    void measure(const Query& query, std::uint32_t first, std::uint32_t count, float limit, float* values) const {
      sequences_.visit([&]<typename Code>(const Code* codes) {
        const auto asked = query.as(Code{});
        for (std::uint32_t i = 0; i < count; ++i) {
          values[i] = differing(asked.data(), codes + sequences_.offsets()[first + i], asked.size(), limit);
        }
      });
    }
    std::uint64_t memory_bytes() const { return sequences_.memory_bytes(); }

   private:
    friend class HammingSpace;
    CodedSequences sequences_;
  };

  explicit HammingSpace(const engine::SequenceRows& rows) : codes_(rows), sequences_(rows, codes_) {}

  std::uint32_t size() const { return sequences_.count(); }
  void ask(Query& query, std::uint32_t number) const {
    sequences_.copy(number, query.codes_);
    prepare(query);
  }
  /// An item that no sequence has gets a code that none has; there is always one left.
  void ask_outside(Query& query, const Outside& outside) const {
    query.codes_.clear();
    for (const std::uint32_t item : outside) query.codes_.push_back(codes_.code_of(item));
    prepare(query);
  }
  Rows arrange(std::span<const std::uint32_t> numbers, int threads) const {
    Rows rows;
    rows.sequences_ = sequences_.taken(numbers, threads);
    return rows;
  }
  double metric(float value) const { return static_cast<double>(value); }
  core::CoverRounding rounding() const { return {}; }
  bool same(std::uint32_t a, std::uint32_t b) const { return sequences_.same(a, b); }
  std::uint64_t memory_bytes() const { return codes_.memory_bytes() + sequences_.memory_bytes(); }

 private:
  void prepare(Query& query) const {
    query.codes_8_.clear();
    query.codes_16_.clear();
    sequences_.visit([&]<typename Code>(const Code*) {
      for (const std::uint32_t code : query.codes_) {
        if constexpr (sizeof(Code) == 1) query.codes_8_.push_back(static_cast<std::uint8_t>(code));
        if constexpr (sizeof(Code) == 2) query.codes_16_.push_back(static_cast<std::uint16_t>(code));
      }
    });
  }

  /// Counted in numbers as narrow as codes, for as long as these cannot overflow: so a vector holds as many.
  template <typename Code>
  static float differing(const Code* a, const Code* b, std::size_t length, float limit) {
    constexpr std::size_t kAtOnce = 240;
    std::uint32_t differ = 0;
    for (std::size_t start = 0; start < length; start += kAtOnce) {
      const std::size_t end = std::min(length, start + kAtOnce);
      Code some = 0;
      for (std::size_t i = start; i < end; ++i) some = static_cast<Code>(some + (a[i] != b[i] ? 1 : 0));
      differ += some;
      if (static_cast<float>(differ) > limit) break;
    }
    return static_cast<float>(differ);
  }

  ItemCodes codes_;
  CodedSequences sequences_;
};

static_assert(Space<HammingSpace>);

}  // namespace kith::cpu
