// Sequences of item codes side by side, in as few bytes as the codes need.
#pragma once

#include "cpu/cover_tree/item_codes.hpp"
#include "engine/object_searcher.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::cpu {

/// Owns the codes. Behind the last one lie as many zeros as the longest sequence has items: a loop over several
/// sequences may read on where a short one has ended.
///
/// bytes per item: 1 up to 255 distinct ones, 2 up to 65535, else 4; per sequence: 8
class CodedSequences {
 public:
  CodedSequences() = default;
  CodedSequences(const engine::SequenceRows& rows, const ItemCodes& codes);

  /// Some of them, in another order.
  CodedSequences taken(std::span<const std::uint32_t> numbers, int threads) const;

  std::uint32_t count() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  std::uint32_t length(std::uint32_t i) const { return static_cast<std::uint32_t>(offsets_[i + 1] - offsets_[i]); }
  std::uint32_t longest() const { return longest_; }
  /// Sequence i is codes[offsets()[i] .. offsets()[i + 1]).
  const std::uint64_t* offsets() const { return offsets_.data(); }
  std::uint64_t memory_bytes() const { return bytes_.size() + offsets_.size() * sizeof(std::uint64_t); }

  /// Calls `f(codes)` with the first code of all, of 1, 2 or 4 bytes.
  template <typename F>
  decltype(auto) visit(F&& f) const {
    if (code_bytes_ == 1) return f(bytes_.data());
    if (code_bytes_ == 2) return f(reinterpret_cast<const std::uint16_t*>(bytes_.data()));
    return f(reinterpret_cast<const std::uint32_t*>(bytes_.data()));
  }
  /// Sequence i as numbers.
  void copy(std::uint32_t i, std::vector<std::uint32_t>& out) const {
    visit([&](const auto* codes) { out.assign(codes + offsets_[i], codes + offsets_[i + 1]); });
  }
  bool same(std::uint32_t a, std::uint32_t b) const {
    return visit([&](const auto* codes) {
      return std::equal(codes + offsets_[a], codes + offsets_[a + 1], codes + offsets_[b], codes + offsets_[b + 1]);
    });
  }

 private:
  void reserve();

  std::uint32_t code_bytes_ = 1;
  std::uint32_t longest_ = 0;
  std::vector<std::uint64_t> offsets_ = {0};
  std::vector<std::uint8_t> bytes_;
};

}  // namespace kith::cpu
