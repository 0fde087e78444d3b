// The k nearest of one query kept in the caller's own result row: no memory of its own, any k.
#pragma once

#include "core/candidate.hpp"
#include "cpu/kd_tree/leaf_hits.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace kith::cpu {

/// A heap with the worst on top, sorted at the end. O(log k) per candidate that enters.
template <typename T>
class RowList {
 public:
  RowList(std::uint32_t k, T bound, std::uint32_t* indices, T* chains)
      : k_(k), bound_(bound), indices_(indices), chains_(chains) {}

  /// What a candidate must come before to enter.
  Limit<T> limit() const {
    if (k_ == 0) return {0, 0};
    return size_ < k_ ? Limit<T>{bound_, std::numeric_limits<std::uint32_t>::max()} : Limit<T>{chains_[0], indices_[0]};
  }

  void offer(core::Candidate<T> candidate) {
    if (candidate.distance > bound_) return;
    if (size_ < k_) {
      sift_up(candidate);
    } else if (k_ > 0 && candidate < at(0)) {
      sift_down(candidate, size_);
    }
  }

  /// Sorts what was kept, nearest first, and fills the rest of the row.
  void finish(std::uint32_t missing) {
    for (std::uint32_t end = size_; end > 1; --end) {
      const core::Candidate<T> worst = at(0), last = at(end - 1);
      sift_down(last, end - 1);
      put(end - 1, worst);
    }
    std::fill(indices_ + size_, indices_ + k_, missing);
    std::fill(chains_ + size_, chains_ + k_, std::numeric_limits<T>::infinity());
  }

 private:
  core::Candidate<T> at(std::uint32_t i) const { return {chains_[i], indices_[i]}; }
  void put(std::uint32_t i, core::Candidate<T> candidate) {
    chains_[i] = candidate.distance;
    indices_[i] = candidate.index;
  }

  void sift_up(core::Candidate<T> candidate) {
    std::uint32_t place = size_++;
    while (place > 0 && at((place - 1) / 2) < candidate) {
      put(place, at((place - 1) / 2));
      place = (place - 1) / 2;
    }
    put(place, candidate);
  }

  /// Puts the candidate on top of a heap of `size` and moves it to where it belongs.
  void sift_down(core::Candidate<T> candidate, std::uint32_t size) {
    std::uint64_t place = 0;
    for (;;) {
      std::uint64_t child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && at(static_cast<std::uint32_t>(child)) < at(static_cast<std::uint32_t>(child + 1)))
        ++child;
      if (!(candidate < at(static_cast<std::uint32_t>(child)))) break;
      put(static_cast<std::uint32_t>(place), at(static_cast<std::uint32_t>(child)));
      place = child;
    }
    put(static_cast<std::uint32_t>(place), candidate);
  }

  std::uint32_t k_;
  T bound_;
  std::uint32_t* indices_;
  T* chains_;
  std::uint32_t size_ = 0;
};

}  // namespace kith::cpu
