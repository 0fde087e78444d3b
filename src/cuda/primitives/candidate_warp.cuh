// Candidates (distance and number) exchanged and sorted by the lanes of a warp, or by a warp in memory.
#pragma once

#include "core/order/candidate.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/requests.hpp"

#include <limits>

namespace kith::cuda {

using core::Candidate;

/// Comes after every candidate.
template <typename T>
__device__ __forceinline__ Candidate<T> last_candidate() {
  return {std::numeric_limits<T>::infinity(), kNoPoint};
}

template <typename T>
__device__ __forceinline__ Candidate<T> from_lane(const Candidate<T>& own, std::uint32_t lane) {
  const T distance = shuffle(own.distance, lane);
  return {distance, shuffle(own.index, lane)};
}
template <typename T>
__device__ __forceinline__ Candidate<T> from_lane_xor(const Candidate<T>& own, std::uint32_t mask) {
  const T distance = shuffle_xor(own.distance, mask);
  return {distance, shuffle_xor(own.index, mask)};
}
/// Lane 0 keeps its own.
template <typename T>
__device__ __forceinline__ Candidate<T> from_lane_before(const Candidate<T>& own) {
  const T distance = shuffle_up(own.distance, 1);
  return {distance, shuffle_up(own.index, 1)};
}

/// Of this lane's candidate and that of the lane `mask` away, the one that belongs here.
template <typename T>
__device__ __forceinline__ void exchange_with(Candidate<T>& own, std::uint32_t mask, bool keeps_lesser) {
  const Candidate<T> other = from_lane_xor(own, mask);
  if ((other < own) == keeps_lesser) own = other;  // equal ones: it makes no difference
}

/// Ascending over the lanes.
template <typename T>
__device__ inline void sort_in_lanes(Candidate<T>& own) {
  const std::uint32_t lane = lane_number();
#pragma unroll
  for (std::uint32_t size = 2; size <= kWarp; size *= 2) {
#pragma unroll
    for (std::uint32_t stride = size / 2; stride > 0; stride /= 2) {
      const bool ascends = size == kWarp || (lane & size) == 0;
      exchange_with(own, stride, ((lane & stride) == 0) == ascends);
    }
  }
}

/// Two ascending lists, a lane an entry: `own` becomes the lesser half of both, ascending.
template <typename T>
__device__ inline void keep_lesser_half(Candidate<T>& own, const Candidate<T>& other) {
  const Candidate<T> mirrored = from_lane(other, kWarp - 1 - lane_number());
  if (mirrored < own) own = mirrored;
#pragma unroll
  for (std::uint32_t stride = kWarp / 2; stride > 0; stride /= 2) {
    exchange_with(own, stride, (lane_number() & stride) == 0);
  }
}

/// Compares and swaps pairs of `count` entries: i with i + stride where i has no bit `stride`, or, `mirrored`, with its
/// mirror image in its block of 2 * stride. Ascending in any case; what lies behind the end counts as last.
template <typename Entries>
__device__ inline void compare_pairs(Entries& entries, std::uint64_t count, std::uint64_t stride, bool is_mirrored) {
  for (std::uint64_t pair = lane_number();; pair += kWarp) {
    const std::uint64_t within = pair & (stride - 1), block = (pair - within) * 2;
    const std::uint64_t i = block + within, j = is_mirrored ? block + 2 * stride - 1 - within : i + stride;
    if (i >= count) break;
    if (j >= count) continue;
    const auto a = entries.at(i);
    const auto b = entries.at(j);
    if (b < a) {
      entries.put(i, b);
      entries.put(j, a);
    }
  }
  sync_warp();
}

/// Sorts entries in memory, any number of them, by the whole warp.
template <typename Entries>
__device__ inline void sort_in_memory(Entries& entries, std::uint64_t count) {
  sync_warp();
  for (std::uint64_t half = 1; half < count; half *= 2) {
    compare_pairs(entries, count, half, true);
    for (std::uint64_t stride = half / 2; stride > 0; stride /= 2) compare_pairs(entries, count, stride, false);
  }
}

/// Candidates side by side.
template <typename T>
struct CandidateEntries {
  Candidate<T>* entries;

  __device__ Candidate<T> at(std::uint64_t i) const { return entries[i]; }
  __device__ void put(std::uint64_t i, const Candidate<T>& candidate) { entries[i] = candidate; }
};

/// Candidates in the two arrays of an answer.
template <typename T>
struct AnswerEntries {
  T* reduced;
  std::uint32_t* indices;

  __device__ Candidate<T> at(std::uint64_t i) const { return {reduced[i], indices[i]}; }
  __device__ void put(std::uint64_t i, const Candidate<T>& candidate) {
    reduced[i] = candidate.distance;
    indices[i] = candidate.index;
  }
};

/// Numbers alone.
struct NumberEntries {
  std::uint32_t* numbers;

  __device__ std::uint32_t at(std::uint64_t i) const { return numbers[i]; }
  __device__ void put(std::uint64_t i, std::uint32_t number) { numbers[i] = number; }
};

}  // namespace kith::cuda
