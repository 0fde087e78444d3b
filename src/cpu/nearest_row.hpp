// The k nearest candidates so far, kept in the two arrays where the answer is wanted: no memory of its own, for any k.
#pragma once

#include "core/order/candidate.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith::cpu {

/// A heap with the farthest candidate on top, sorted at the end. An offer that enters costs O(log k). `Kept` is
/// core::SignedCandidate where reduced distances may be negative.
template <typename T, typename Kept = core::Candidate<T>>
class NearestRow {
 public:
  /// `indices` and `reduced` have room for k entries; only candidates with reduced distance <= farthest are kept.
  NearestRow(std::uint32_t k, T farthest, std::uint32_t* indices, T* reduced)
      : k_(k), farthest_(farthest), indices_(indices), reduced_(reduced) {}

  /// Candidates with a reduced distance above this cannot enter.
  T bound() const { return size_ < k_ ? farthest_ : reduced_[0]; }
  /// Candidates that do not come before this one cannot enter.
  Kept limit() const {
    if (k_ == 0) return Kept::first();
    return size_ < k_ ? Kept{farthest_, std::numeric_limits<std::uint32_t>::max()} : at(0);
  }

  void offer(Kept candidate) {
    if (size_ < k_) {
      if (candidate.distance <= farthest_) rise(size_++, candidate);
    } else if (k_ > 0 && candidate < at(0)) {
      sink(candidate, size_);
    }
  }

  /// Sorts, and fills what is left with `missing` and infinity. Returns how many were found.
  std::uint32_t finish(std::uint32_t missing) {
    for (std::uint32_t last = size_; last > 1;) {
      --last;
      const Kept farthest = at(0);
      sink(at(last), last);
      put(last, farthest);
    }
    std::fill(indices_ + size_, indices_ + k_, missing);
    std::fill(reduced_ + size_, reduced_ + k_, std::numeric_limits<T>::infinity());
    return size_;
  }

 private:
  Kept at(std::uint32_t place) const { return {reduced_[place], indices_[place]}; }
  void put(std::uint32_t place, Kept candidate) {
    reduced_[place] = candidate.distance;
    indices_[place] = candidate.index;
  }

  /// Fills the free `place` at the end.
  void rise(std::uint32_t place, Kept candidate) {
    while (place > 0 && at((place - 1) / 2) < candidate) {
      put(place, at((place - 1) / 2));
      place = (place - 1) / 2;
    }
    put(place, candidate);
  }

  /// Fills the free top of a heap of `size`.
  void sink(Kept candidate, std::uint32_t size) {
    std::uint64_t place = 0;
    for (std::uint64_t child = 1; child < size; child = 2 * place + 1) {
      if (child + 1 < size && at(static_cast<std::uint32_t>(child)) < at(static_cast<std::uint32_t>(child + 1))) {
        ++child;
      }
      if (!(candidate < at(static_cast<std::uint32_t>(child)))) break;
      put(static_cast<std::uint32_t>(place), at(static_cast<std::uint32_t>(child)));
      place = child;
    }
    put(static_cast<std::uint32_t>(place), candidate);
  }

  std::uint32_t k_;
  T farthest_;
  std::uint32_t* indices_;
  T* reduced_;
  std::uint32_t size_ = 0;
};

}  // namespace kith::cpu
