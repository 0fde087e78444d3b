// See edit_pattern.hpp.
#include "cpu/cover_tree/edit_pattern.hpp"

namespace kith::cpu {

void EditPattern::clear() {
  for (const std::uint32_t item : items_) {
    if (item < direct_.size()) direct_[item] = 0;
    if (item < places_.size()) places_[item] = 0;
  }
}

void EditPattern::set(std::span<const std::uint32_t> pattern, std::uint32_t codes) {
  clear();
  items_.assign(pattern.begin(), pattern.end());
  words_ = (length() + kWord - 1) / kWord;
  is_direct_ = length() <= kWord && codes <= kMostDirect;
  if (is_direct_) {
    direct_.resize(codes);
    for (std::uint32_t i = 0; i < length(); ++i) {
      if (items_[i] < codes) direct_[items_[i]] |= std::uint64_t{1} << i;
    }
    return;
  }
  places_.resize(codes);
  matches_.assign(words_, 0);
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < length(); ++i) {
    if (items_[i] >= codes) continue;
    std::uint32_t& place = places_[items_[i]];
    if (place == 0) {
      place = ++used;
      matches_.resize(matches_.size() + words_);
    }
    matches_[std::size_t{place} * words_ + i / kWord] |= std::uint64_t{1} << i % kWord;
  }
}

}  // namespace kith::cpu
