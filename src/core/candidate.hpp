// The tie rule: neighbours are ordered by (distance, index), nothing else.
#pragma once

#include "core/host_device.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::core {

/// A point that may be a neighbour, with its chain (squared distance for L2).
template <typename T>
struct Candidate {
  T distance;
  std::uint32_t index;

  /// Nobody comes before it.
  KITH_HOST_DEVICE static Candidate first() { return {0, 0}; }

  KITH_HOST_DEVICE friend bool operator<(const Candidate& a, const Candidate& b) {
#if !defined(__CUDA_ARCH__)
    // A distance is never negative, so its bits order like the number: one comparison of whole pairs, without a branch.
    if constexpr (sizeof(T) == 4) return a.order_key() < b.order_key();
#endif
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
  }
  KITH_HOST_DEVICE friend bool operator==(const Candidate& a, const Candidate& b) {
    return a.distance == b.distance && a.index == b.index;
  }

 private:
  std::uint64_t order_key() const requires(sizeof(T) == 4) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32 | index;
  }
};

/// The same where chains may be negative: those of inner products.
template <typename T>
struct SignedCandidate {
  T distance;
  std::uint32_t index;

  KITH_HOST_DEVICE static SignedCandidate first() { return {-std::numeric_limits<T>::infinity(), 0}; }

  KITH_HOST_DEVICE friend bool operator<(const SignedCandidate& a, const SignedCandidate& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
  }
};

}  // namespace kith::core
