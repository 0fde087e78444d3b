// The items of sequences numbered from 0, so that tables over them are small.
#pragma once

#include "engine/object_searcher.hpp"

#include <cstdint>
#include <vector>

namespace kith::cpu {

/// The distinct items of sequences; frequent ones have low codes.
class ItemCodes {
 public:
  explicit ItemCodes(const engine::SequenceRows& rows);

  /// How many there are. As a code: an item that no sequence has.
  std::uint32_t size() const { return size_; }
  std::uint32_t code_of(std::uint32_t item) const { return item < codes_.size() ? codes_[item] : rare_code_of(item); }
  std::uint64_t memory_bytes() const {
    return (codes_.size() + large_.size() + large_codes_.size()) * sizeof(std::uint32_t);
  }

 private:
  std::uint32_t rare_code_of(std::uint32_t item) const;

  std::uint32_t size_ = 0;
  std::vector<std::uint32_t> codes_;        // of small items
  std::vector<std::uint32_t> large_;        // other items, ascending
  std::vector<std::uint32_t> large_codes_;  // theirs
};

}  // namespace kith::cpu
