// Threads that work on one node: a warp, or a block.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/split_state.hpp"

namespace kith::cuda {

/// What a team keeps in shared memory.
struct TeamCells {
  std::uint64_t partial[kWarp];  ///< sums of warps
  std::uint64_t least, greatest;
  std::uint32_t found_bin[2], found_below[2];
  std::uint32_t dims[2], slots[2];
  std::uint32_t few;
  std::uint32_t few_places[kFew];
  std::uint64_t few_keys[kFew];
  std::uint32_t chosen;
};

/// Inclusive sum over the lanes of a warp.
__device__ inline std::uint64_t sum_to_lane(std::uint64_t value) {
  for (std::uint32_t step = 1; step < kWarp; step *= 2) {
    const std::uint64_t other = shuffle_up(value, step);
    if (lane_number() >= step) value += other;
  }
  return value;
}

struct WarpTeam {
  TeamCells* cells;

  static constexpr bool kIsWarp = true;
  __device__ std::uint32_t rank() const { return lane_number(); }
  __device__ std::uint32_t size() const { return kWarp; }
  __device__ void sync() const { sync_warp(); }
  __device__ std::uint64_t sum_before(std::uint64_t value) const { return sum_to_lane(value) - value; }
};

struct BlockTeam {
  TeamCells* cells;

  static constexpr bool kIsWarp = false;
  __device__ std::uint32_t rank() const { return thread_number(); }
  __device__ std::uint32_t size() const { return threads_per_block(); }
  __device__ void sync() const { sync_block(); }
  /// Every thread of the block calls this.
  __device__ std::uint64_t sum_before(std::uint64_t value) const {
    const std::uint64_t inclusive = sum_to_lane(value);
    sync_block();
    if (lane_number() == kWarp - 1) cells->partial[warp_number()] = inclusive;
    sync_block();
    const std::uint32_t warps = threads_per_block() / kWarp;
    const std::uint64_t of_warp = lane_number() < warps ? cells->partial[lane_number()] : 0;
    const std::uint64_t before = sum_to_lane(of_warp) - of_warp;
    return shuffle(before, warp_number()) + inclusive - value;
  }
};

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
