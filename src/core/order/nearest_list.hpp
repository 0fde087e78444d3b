// The k nearest candidates so far, kept sorted in memory that the caller owns. For small k, on host and device.
#pragma once

#include "core/order/candidate.hpp"
#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// Keeps the `capacity` smallest of all candidates offered, ascending. Offering costs one comparison for a candidate
/// that does not enter and O(capacity) moves for one that does. `Kept` is a candidate.
template <typename T, typename Kept = Candidate<T>>
class NearestList {
 public:
  KITH_HOST_DEVICE NearestList(Kept* storage, std::uint32_t capacity) : entries_(storage), capacity_(capacity) {}

  /// True if the candidate entered.
  KITH_HOST_DEVICE bool offer(Kept candidate) {
    if (full()) {
      if (capacity_ == 0 || !(candidate < entries_[size_ - 1])) return false;
      --size_;  // the worst one leaves
    }
    std::uint32_t place = size_;
    for (; place > 0 && candidate < entries_[place - 1]; --place) entries_[place] = entries_[place - 1];
    entries_[place] = candidate;
    ++size_;
    return true;
  }

  KITH_HOST_DEVICE std::uint32_t size() const { return size_; }
  KITH_HOST_DEVICE bool full() const { return size_ == capacity_; }
  /// The worst candidate kept; only if there is one.
  KITH_HOST_DEVICE const Kept& worst() const { return entries_[size_ - 1]; }
  KITH_HOST_DEVICE const Kept& operator[](std::uint32_t i) const { return entries_[i]; }

 private:
  Kept* entries_;
  std::uint32_t capacity_;
  std::uint32_t size_ = 0;
};

}  // namespace kith::core
