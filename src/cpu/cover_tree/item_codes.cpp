// See item_codes.hpp.
#include "cpu/cover_tree/item_codes.hpp"

#include <algorithm>

namespace kith::cpu {
namespace {

/// Below it, items are looked up in a table; all of Unicode is.
constexpr std::uint32_t kLargeItem = 0x110000;

}  // namespace

ItemCodes::ItemCodes(const engine::SequenceRows& rows) {
  const std::uint64_t begin = rows.count == 0 ? 0 : rows.offsets[0];
  const std::uint64_t end = rows.count == 0 ? 0 : rows.offsets[rows.count];
  std::uint32_t largest_small = 0;
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint32_t item = rows.items[i];
    if (item < kLargeItem) {
      largest_small = std::max(largest_small, item);
    } else {
      large_.push_back(item);
    }
  }
  std::vector<std::uint64_t> counts(begin == end ? 0 : std::size_t{largest_small} + 1);  // small items, then large ones
  for (std::uint64_t i = begin; i < end; ++i) {
    if (rows.items[i] < kLargeItem) ++counts[rows.items[i]];
  }
  codes_.resize(counts.size());
  std::sort(large_.begin(), large_.end());
  for (std::size_t i = 0; i < large_.size();) {
    const auto next = std::upper_bound(large_.begin() + static_cast<std::ptrdiff_t>(i), large_.end(), large_[i]);
    const auto same = static_cast<std::size_t>(next - large_.begin()) - i;
    large_[counts.size() - codes_.size()] = large_[i];
    counts.push_back(same);
    i += same;
  }
  large_.resize(counts.size() - codes_.size());
  large_.shrink_to_fit();
  large_codes_.resize(large_.size());

  std::vector<std::uint32_t> places;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) places.push_back(static_cast<std::uint32_t>(i));
  }
  std::stable_sort(places.begin(), places.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  size_ = static_cast<std::uint32_t>(places.size());
  std::fill(codes_.begin(), codes_.end(), size_);
  for (std::uint32_t code = 0; code < size_; ++code) {
    const std::uint32_t place = places[code];
    (place < codes_.size() ? codes_[place] : large_codes_[place - codes_.size()]) = code;
  }
}

std::uint32_t ItemCodes::rare_code_of(std::uint32_t item) const {
  const auto found = std::lower_bound(large_.begin(), large_.end(), item);
  return found == large_.end() || *found != item ? size_
                                                 : large_codes_[static_cast<std::size_t>(found - large_.begin())];
}

}  // namespace kith::cpu
