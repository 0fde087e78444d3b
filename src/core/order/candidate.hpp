// The order of neighbours, and its ties: by (distance, index), nothing else.
#pragma once

#include "core/host_device.hpp"
#include "core/order/ordered_bits.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace kith::core {

/// Stands for "no point" where an index is expected; behind every index of a point.
inline constexpr std::uint32_t kNoPoint = 0xffffffff;

/// A point that may be a neighbour, with its reduced distance (squared for L2), which is not negative.
template <typename T>
struct Candidate {
  T distance;
  std::uint32_t index;

  /// Nothing comes before it.
  KITH_HOST_DEVICE static Candidate first() { return {0, 0}; }

  /// As a limit: whether no point at `bound` or beyond, with an index of `smallest` or above, comes before it.
  KITH_HOST_DEVICE bool excludes(T bound, std::uint32_t smallest) const {
    return bound > distance || (bound == distance && smallest >= index);
  }

  /// f32: as one number that orders like the candidates, because the bits of numbers that are not negative do.
  KITH_HOST_DEVICE std::uint64_t packed() const requires(sizeof(T) == 4) {
    return packed_pair(std::bit_cast<std::uint32_t>(distance), index);
  }
  KITH_HOST_DEVICE static Candidate of_packed(std::uint64_t packed) requires(sizeof(T) == 4) {
    return {std::bit_cast<T>(distance_bits_of(packed)), index_of(packed)};
  }

  KITH_HOST_DEVICE friend bool operator<(const Candidate& a, const Candidate& b) {
#if !defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) return a.packed() < b.packed();  // one comparison, without a branch
#endif
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
  }
  KITH_HOST_DEVICE friend bool operator==(const Candidate& a, const Candidate& b) {
    return a.distance == b.distance && a.index == b.index;
  }
};

/// The same where distances may be negative: those of inner products.
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
