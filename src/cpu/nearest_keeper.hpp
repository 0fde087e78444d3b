// Keeps the k nearest of a stream of candidates for one query, for any k.
#pragma once

#include "core/order/candidate.hpp"
#include "core/order/nearest_list.hpp"
#include "cpu/key_list.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

namespace kith::cpu {

/// f32 and k up to 16: sorted keys. Small k: a sorted list. Large k: a buffer of up to 2 k that is cut back to the k
/// nearest whenever it is full, so that an offer costs O(1) on average and nothing is sorted before the end.
///
/// Of two candidates at equal distance the one with the lower index must come first: once k are kept, a later one must
/// be strictly nearer to enter.
///
/// `Kept` is core::SignedCandidate where reduced distances may be negative; keys are not for those.
template <typename T, typename Kept = core::Candidate<T>>
class NearestKeeper {
 public:
  /// `most` is how many candidates can come at all; only those with reduced distance <= farthest are kept.
  NearestKeeper(std::uint32_t k, std::uint64_t most, T farthest)
      : k_(static_cast<std::uint32_t>(std::min<std::uint64_t>(k, most))),
        farthest_(farthest),
        storage_(k_ <= kSortedList ? k_ : std::min<std::uint64_t>(2 * std::uint64_t{k_}, most)) {
    reset();
  }

  void reset() {
    if (uses_keys()) keys_.reset(k_, farthest_);
    size_ = 0;
    list_ = core::NearestList<T, Kept>(storage_.data(), k_);
    limit_ = k_ == 0 ? Kept::first() : Kept{farthest_, core::kNoPoint};
  }

  /// Candidates that do not come before this one cannot enter.
  const Kept& limit() const { return limit_; }
  /// The largest reduced distance that can still enter if candidates come with ascending index: at equal distance, the
  /// later one is too late.
  T bound_for_ascending() const { return is_full() ? just_below(limit_.distance) : limit_.distance; }

  void offer(Kept candidate) {
    if constexpr (kHasKeys) {
      if (uses_keys()) {
        keys_.offer(candidate);
        limit_ = keys_.limit();
        return;
      }
    }
    if (!(candidate < limit_)) return;
    if (k_ <= kSortedList) {
      list_.offer(candidate);
      size_ = list_.size();
      if (list_.full()) limit_ = list_.worst();
    } else {
      storage_[size_++] = candidate;
      if (size_ == storage_.size()) cut_back();
    }
  }

  /// The candidates kept, nearest first. Only `reset` may follow.
  std::span<const Kept> finish() {
    if constexpr (kHasKeys) {
      if (uses_keys()) size_ = keys_.copy_to(storage_.data());
    }
    if (k_ > kSortedList) {
      std::sort(storage_.begin(), storage_.begin() + static_cast<std::ptrdiff_t>(size_));
      size_ = std::min<std::size_t>(size_, k_);
    }
    return {storage_.data(), size_};
  }

 private:
  static constexpr std::uint32_t kSortedList = 64;
  static constexpr bool kHasKeys = std::is_same_v<Kept, core::Candidate<float>>;

  bool uses_keys() const { return kHasKeys && k_ > 0 && k_ <= KeyList::kMost; }

  void cut_back() {
    const auto last = storage_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(storage_.begin(), last, storage_.end());
    size_ = k_;
    limit_ = *last;
  }

  /// True once k candidates are kept, which is when the limit is one of them.
  bool is_full() const { return k_ == 0 || limit_.index != core::kNoPoint; }

  /// The next value below: one less as an integer, or one more where the sign is minus. Below minus infinity that is
  /// NaN, which nothing is within.
  static T just_below(T distance) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (distance < 0) return std::bit_cast<T>(std::bit_cast<Bits>(distance) + 1);
    return distance > 0 ? std::bit_cast<T>(std::bit_cast<Bits>(distance) - 1) : -std::numeric_limits<T>::denorm_min();
  }

  std::uint32_t k_;
  T farthest_;
  std::vector<Kept> storage_;
  core::NearestList<T, Kept> list_{nullptr, 0};
  std::size_t size_ = 0;
  Kept limit_{};
  KeyList keys_;
};

}  // namespace kith::cpu
