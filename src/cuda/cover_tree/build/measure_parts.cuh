// What the kernels that measure share: limits, lists of ranges walked by 32 lanes, counts of evaluations.
#pragma once

#include "cuda/cover_tree/build/build_types.hpp"
#include "cuda/primitives/thread_of_grid.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>
#include <limits>

namespace kith::cuda::cover {

/// Values above it have a metric above `distance`: a little more than the value of the distance, so that neither its
/// rounding nor that of the metric matters.
template <DeviceSpace S>
__device__ typename S::Value limit_of(const S& space, double distance) {
  using Value = typename S::Value;
  const bool is_squared = space.metric(Value(4)) == 2;
  const double value = is_squared ? distance * distance : distance;
  return static_cast<Value>(value * (1 + 1e-6)) + 4 * std::numeric_limits<Value>::denorm_min();
}

/// How many are in the ranges of all lanes up to this one.
__device__ inline std::uint32_t sum_to_lane(std::uint32_t own) {
  for (std::uint32_t delta = 1; delta < kWarp; delta *= 2) {
    const std::uint32_t below = shuffle_up(own, delta);
    if (lane_number() >= delta) own += below;
  }
  return own;
}

/// The lane in whose range item `k` of all is.
__device__ inline std::uint32_t lane_with(std::uint32_t sum_to_own, std::uint32_t k) {
  std::uint32_t lane = 0;
  for (std::uint32_t step = kWarp / 2; step > 0; step /= 2) {
    if (shuffle(sum_to_own, lane + step - 1) <= k) lane += step;
  }
  return lane;
}

/// A range per lane; the warp walks all items, 32 at a time.
struct LaneRanges {
  std::uint32_t begin = 0, sum = 0, total = 0;

  __device__ LaneRanges(std::uint32_t first, std::uint32_t size) : begin(first), sum(sum_to_lane(size)) {
    begin = first - (sum - size);  // may wrap, and back again when an item is added
    total = shuffle(sum, kWarp - 1);
  }
  /// Item `k`, if it is below `total`, and the lane it comes from.
  __device__ std::uint32_t item(std::uint32_t k, std::uint32_t& lane) const {
    lane = lane_with(sum, k);
    return shuffle(begin, lane) + k;
  }
};

/// The entry whose sums before contain item `k`: before[entry] <= k < before[entry + 1].
__device__ inline std::uint32_t entry_with(const std::uint32_t* before, std::uint32_t count, std::uint32_t k) {
  std::uint32_t low = 0, high = count;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (before[middle] <= k) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

__device__ inline void add_evaluations(Counters* counters, std::uint32_t own) {
  const std::uint32_t sum = sum_of_warp(own);
  if (lane_number() == 0 && sum > 0) atomic_add(&counters->evaluations, std::uint64_t{sum});
}

/// The part of shared memory where this warp prepares an object.
template <DeviceSpace S>
__device__ std::byte* context_of_warp(const S& space) {
  return shared_memory() + std::uint64_t{warp_number()} * space.context_bytes();
}

}  // namespace kith::cuda::cover
