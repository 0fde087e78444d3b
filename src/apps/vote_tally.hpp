// Weights added up by label, for lists of any length and any number of classes: O(1) per neighbour, memory for k
// labels.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::apps {

/// Reused from list to list, so that nothing is allocated for each.
class VoteTally {
 public:
  struct Entry {
    std::uint32_t label;
    std::uint32_t place;  ///< where the table tells of it
    double weight;
  };

  /// For lists of up to `k` neighbours with labels below `classes`.
  VoteTally(std::uint32_t k, std::uint32_t classes)
      : places_(std::bit_ceil(2 * std::min<std::size_t>(k, classes)), 0),
        shift_(64 - std::countr_zero(places_.size())),
        is_direct_(classes <= places_.size()) {
    entries_.reserve(std::min(k, classes));
  }

  void clear() {
    for (const Entry& entry : entries_) places_[entry.place] = 0;
    entries_.clear();
    total_ = 0;
  }

  void add(std::uint32_t label, double weight) {
    total_ += weight;
    const std::uint32_t place = place_of(label);
    if (places_[place] == 0) {
      entries_.push_back({label, place, 0});
      places_[place] = static_cast<std::uint32_t>(entries_.size());
    }
    entries_[places_[place] - 1].weight += weight;
  }

  /// The label with the most weight; of several the one that was added first.
  std::uint32_t winner() const {
    return std::max_element(entries_.begin(), entries_.end(),
                            [](const Entry& a, const Entry& b) { return a.weight < b.weight; })
        ->label;
  }

  /// In the order in which labels were first added.
  const std::vector<Entry>& entries() const { return entries_; }
  double total() const { return total_; }

 private:
  /// Where the number of a label's entry stands, or would.
  std::uint32_t place_of(std::uint32_t label) const {
    if (is_direct_) return label;
    const auto last = static_cast<std::uint32_t>(places_.size() - 1);
    auto place = static_cast<std::uint32_t>(label * 0x9E3779B97F4A7C15ULL >> shift_);
    while (places_[place] != 0 && entries_[places_[place] - 1].label != label) place = (place + 1) & last;
    return place;
  }

  std::vector<std::uint32_t> places_;  // 1 + the entry; 0: none. Half of them stay free.
  int shift_;
  bool is_direct_;  // few classes: a place for each
  std::vector<Entry> entries_;
  double total_ = 0;
};

}  // namespace kith::apps
