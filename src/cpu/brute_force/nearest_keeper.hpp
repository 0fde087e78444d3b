// Keeps the k nearest of a stream of candidates for one query, for any k.
#pragma once

#include "core/candidate.hpp"
#include "core/nearest_list.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::cpu {

/// Small k: a sorted list. Large k: a buffer of up to 2 k that is cut back to the k nearest whenever it is full, so
/// that an offer costs O(1) on average and nothing is sorted before the end.
///
/// Of two candidates at equal distance the one with the lower index must come first: once k are kept, a later one must
/// be strictly nearer to enter.
template <typename T>
class NearestKeeper {
 public:
  /// `most` is how many candidates can come at all; only those with chain <= limit are kept.
  NearestKeeper(std::uint32_t k, std::uint64_t most, T limit)
      : k_(static_cast<std::uint32_t>(std::min<std::uint64_t>(k, most))),
        limit_(limit),
        storage_(k_ <= kSortedList ? k_ : std::min<std::uint64_t>(2 * std::uint64_t{k_}, most)) {
    reset();
  }

  void reset() {
    size_ = 0;
    list_ = core::NearestList<T>(storage_.data(), k_);
    bound_ = k_ == 0 ? -kInfinity : limit_;
  }

  /// The largest chain value that can still enter.
  T bound() const { return bound_; }

  void offer(core::Candidate<T> candidate) {
    if (!(candidate.distance <= bound_)) return;
    if (k_ <= kSortedList) {
      list_.offer(candidate);
      size_ = list_.size();
      if (list_.full()) bound_ = just_below(list_.worst().distance);
    } else {
      storage_[size_++] = candidate;
      if (size_ == storage_.size()) cut_back();
    }
  }

  /// The candidates kept, nearest first. Only `reset` may follow.
  std::span<const core::Candidate<T>> finish() {
    if (k_ > kSortedList) {
      std::sort(storage_.begin(), storage_.begin() + static_cast<std::ptrdiff_t>(size_));
      size_ = std::min<std::size_t>(size_, k_);
    }
    return {storage_.data(), size_};
  }

 private:
  static constexpr std::uint32_t kSortedList = 64;
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();

  void cut_back() {
    const auto last = storage_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(storage_.begin(), last, storage_.end());
    size_ = k_;
    bound_ = just_below(last->distance);
  }

  /// The next value below a distance, which is never negative: one less as an integer, or the first one below zero.
  static T just_below(T distance) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return distance > 0 ? std::bit_cast<T>(std::bit_cast<Bits>(distance) - 1) : -std::numeric_limits<T>::denorm_min();
  }

  std::uint32_t k_;
  T limit_;
  std::vector<core::Candidate<T>> storage_;
  core::NearestList<T> list_{nullptr, 0};
  std::size_t size_ = 0;
  T bound_ = kInfinity;
};

}  // namespace kith::cpu
