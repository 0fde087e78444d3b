// The threads of a block, or of several blocks, working on one node.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/split_state.hpp"

namespace kith::cuda {

/// The shared memory of a block that works on a node. Behind it lie histograms of its halves, boxes and candidates.
struct StepShared {
  std::uint64_t partial[kWarp];  ///< sums of warps
  std::uint64_t least, greatest;
  std::uint64_t few_keys[kFew];
  std::uint32_t few_places[kFew];
  std::uint32_t few;
  std::uint32_t chosen;
  std::uint32_t found_bin[2], found_below[2], found_count;
  std::uint32_t slots[2];
  std::uint32_t histogram[kSelectBins];
};

__device__ __forceinline__ StepShared& step_shared() { return *reinterpret_cast<StepShared*>(shared_memory()); }

/// Where the parts behind StepShared begin.
template <typename T>
struct StepLayout {
  std::size_t node, counted, boxes, keys, places, rows, bytes;

  /// `rows` counters for histograms, `staged` candidates.
  KITH_HOST_DEVICE StepLayout(std::uint32_t dims, std::uint32_t counters, std::uint32_t staged) {
    const auto round = [](std::size_t bytes_of) { return (bytes_of + 15) / 16 * 16; };
    node = round(sizeof(StepShared));
    counted = node + round(sizeof(SplitNode<T>));
    boxes = counted + round(2 * sizeof(CountedBins<T>));
    keys = boxes + (dims <= kStagedDims ? round(3 * 2 * sizeof(T) * (dims + 1)) : 0);
    places = keys + round(sizeof(OrderedKey<T>) * staged);
    rows = places + round(4 * staged);
    bytes = rows + round(4 * counters);
  }
};

/// Inclusive sum over the lanes of a warp.
template <typename V>
__device__ __forceinline__ V sum_to_lane(V value) {
#pragma unroll
  for (std::uint32_t step = 1; step < kWarp; step *= 2) {
    const V other = shuffle_up(value, step);
    if (lane_number() >= step) value += other;
  }
  return value;
}

/// The sum of the values of all threads before this one. Every thread of the block calls this.
__device__ __forceinline__ std::uint64_t sum_before(std::uint64_t value) {
  StepShared& shared = step_shared();
  const std::uint64_t inclusive = sum_to_lane(value);
  sync_block();
  if (lane_number() == kWarp - 1) shared.partial[warp_number()] = inclusive;
  sync_block();
  const std::uint64_t of_warp = lane_number() < threads_per_block() / kWarp ? shared.partial[lane_number()] : 0;
  const std::uint64_t before = sum_to_lane(of_warp) - of_warp;
  return shuffle(before, warp_number()) + inclusive - value;
}

/// Waits until all `blocks` blocks have come here. `meetings` counts them; the counter only grows.
__device__ inline void meet_blocks(std::uint32_t* counter, std::uint32_t blocks, std::uint32_t& meetings) {
  sync_block();
  ++meetings;
  if (thread_number() == 0) {
    fence_device();
    atomic_add(counter, 1u);
    wait_until(counter, meetings * blocks);
    fence_device();
  }
  sync_block();
}

}  // namespace kith::cuda
