// The nearest point of a query and a bound for all others, as searches gather them.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda {

/// The least reduced distance, then the least number. A point may be offered more than once, unless it is the nearest
/// at that time.
template <typename T>
struct NearestPoints {
  T reduced = std::numeric_limits<T>::infinity();  ///< of the nearest; a bound while there is none
  T next = std::numeric_limits<T>::infinity();  ///< no other point that was seen has less, nor has one beyond the bound
  std::uint32_t number = core::kNoPoint;        ///< of the nearest

  __device__ __forceinline__ bool is_before(T other, std::uint32_t its_number) const {
    return other < reduced || (other == reduced && its_number < number);
  }
  __device__ __forceinline__ void offer(T other, std::uint32_t its_number) {
    if (is_before(other, its_number)) {
      next = reduced;
      reduced = other;
      number = its_number;
    } else if (other < next) {
      next = other;
    }
  }
  /// What was found among points of which none is this one's nearest.
  __device__ __forceinline__ void join(const NearestPoints& other) {
    if (is_before(other.reduced, other.number)) {
      next = lesser(reduced, other.next);
      reduced = other.reduced;
      number = other.number;
    } else {
      next = lesser(next, other.reduced);
    }
  }
  /// What eight lanes side by side found, each among other points: the same for all of them.
  __device__ __forceinline__ void join_eight_lanes() {
#pragma unroll
    for (std::uint32_t mask = 1; mask < 8; mask *= 2) {
      join({shuffle_xor(reduced, mask), shuffle_xor(next, mask), shuffle_xor(number, mask)});
    }
  }
};

}  // namespace kith::cuda
