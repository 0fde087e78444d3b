// Weights added up by label, for lists of any length and any number of classes: O(1) per neighbour. Memory is for k
// labels, or for each class where these are few.
#pragma once

#include "core/vote.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith::apps::inline v0 {

/// Reused from list to list, so that nothing is allocated for each.
class VoteTally {
 public:
  /// For lists of up to `k` neighbours with labels below `classes`.
  VoteTally(std::uint32_t k, std::uint32_t classes, core::TieRule ties) : ties_(ties) {
    const std::size_t places = std::bit_ceil(2 * std::min<std::size_t>(k, classes));
    if (classes <= std::max(places, kFewClasses)) {
      sums_.resize(classes);
      return;
    }
    sums_.resize(places);
    names_.resize(places, kNoLabel);
    slots_.resize(k);
    shift_ = 64 - std::countr_zero(places);
  }

  /// The label with the most weight; of several as the rule for ties says. `weight(j)` is that of labels[j]; shares of
  /// the labels that occur are written unless null.
  template <typename Weight>
  std::uint32_t winner(const std::uint32_t* labels, std::uint32_t count, Weight&& weight, double* shares) {
    const std::uint32_t* const slots = names_.empty() ? labels : find_slots(labels, count);
    double total = 0;
    for (std::uint32_t j = 0; j < count; ++j) {
      const double own = weight(j);
      sums_[slots[j]] += own;
      total += own;
    }
    double most = -1;
    std::uint32_t winner = 0;
    for (std::uint32_t j = 0; j < count; ++j) {
      const double own = sums_[slots[j]];
      if (own > most || (own == most && ties_.rank(labels[j]) < ties_.rank(winner))) {
        most = own;
        winner = labels[j];
      }
    }
    if (shares != nullptr) {
      for (std::uint32_t j = 0; j < count; ++j) shares[labels[j]] = sums_[slots[j]] / total;
    }
    for (std::uint32_t j = 0; j < count; ++j) sums_[slots[j]] = 0;
    if (!names_.empty()) {
      for (std::uint32_t j = 0; j < count; ++j) names_[slots[j]] = kNoLabel;
    }
    return winner;
  }

 private:
  static constexpr std::uint32_t kNoLabel = std::numeric_limits<std::uint32_t>::max();  // labels are below `classes`
  static constexpr std::size_t kFewClasses = 4096;

  const std::uint32_t* find_slots(const std::uint32_t* labels, std::uint32_t count) {
    const auto last = static_cast<std::uint32_t>(names_.size() - 1);
    for (std::uint32_t j = 0; j < count; ++j) {
      auto slot = static_cast<std::uint32_t>(labels[j] * 0x9E3779B97F4A7C15ULL >> shift_);
      while (names_[slot] != labels[j] && names_[slot] != kNoLabel) slot = (slot + 1) & last;
      names_[slot] = labels[j];
      slots_[j] = slot;
    }
    return slots_.data();
  }

  core::TieRule ties_;
  std::vector<double> sums_;  // by class, or by slot; zeros between lists
  // Where classes are many: a hash table of which at least half is free.
  std::vector<std::uint32_t> names_;  // whose slot it is
  std::vector<std::uint32_t> slots_;  // of each neighbour
  int shift_ = 0;
};

}  // namespace kith::apps::inline v0
