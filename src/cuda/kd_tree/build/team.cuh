// The threads of a block, or of several blocks, working on one node.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/build/medians/step_layout.hpp"

namespace kith::cuda {

__device__ __forceinline__ StepShared& step_shared() { return *reinterpret_cast<StepShared*>(shared_memory()); }

/// The node that the block works on.
template <typename T>
__device__ __forceinline__ SplitNode<T>& step_node() {
  return *reinterpret_cast<SplitNode<T>*>(shared_memory() + StepLayout<T>(0, 0, false, 0).node);
}

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

/// Adds up the parts of two histograms, kPartBins bins each, for find_bin. The work of the block, which then has to
/// meet.
__device__ __forceinline__ void sum_parts(const std::uint32_t* row0, std::uint32_t bins0, const std::uint32_t* row1,
                                          std::uint32_t bins1) {
  const std::uint32_t parts = bins0 / kPartBins, all = parts + bins1 / kPartBins;
  for (std::uint32_t i = warp_number(); i < all; i += threads_per_block() / kWarp) {
    const std::uint32_t row = i < parts ? 0 : 1, part = i < parts ? i : i - parts;
    const std::uint32_t* own = (row == 0 ? row0 : row1) + part * kPartBins + lane_number();
    const std::uint32_t sum = sum_of_warp(own[0] + own[kWarp] + own[2 * kWarp] + own[3 * kWarp]);
    if (lane_number() == 0) step_shared().part_sums[row][part] = sum;
  }
}

/// The bin of a histogram in which rank `target` lies. A histogram of more than kPartBins bins has a power of two of
/// them, and the sums of its parts are known. The work of one warp.
__device__ __forceinline__ FoundBin find_bin(const std::uint32_t* row, std::uint32_t bins,
                                             const std::uint32_t* part_sums, std::uint32_t target) {
  std::uint32_t first = 0, below = 0;
  if (bins > kPartBins) {
    const std::uint32_t sum = lane_number() < bins / kPartBins ? part_sums[lane_number()] : 0;
    const std::uint32_t through = sum_to_lane(sum);
    const std::uint32_t part = count_bits(ballot(through <= target));
    first = part * kPartBins;
    below = shuffle(through - sum, part);
  }
  std::uint32_t counts[4], sum = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k) {
    const std::uint32_t b = first + 4 * lane_number() + k;
    counts[k] = b < bins ? row[b] : 0;
    sum += counts[k];
  }
  const std::uint32_t through = below + sum_to_lane(sum);
  const std::uint32_t lane = count_bits(ballot(through <= target));
  FoundBin found{first + 4 * lane_number(), through - sum, counts[0]};
#pragma unroll
  for (std::uint32_t k = 1; k < 4; ++k) {
    if (found.below + found.count <= target) found = {found.bin + 1, found.below + found.count, counts[k]};
  }
  return {shuffle(found.bin, lane), shuffle(found.below, lane), shuffle(found.count, lane)};
}

/// Waits until all `blocks` blocks have come here. `barriers` counts them; the counter only grows.
__device__ inline void wait_for_blocks(std::uint32_t* counter, std::uint32_t blocks, std::uint32_t& barriers) {
  sync_block();
  ++barriers;
  if (thread_number() == 0) {
    fence_device();
    atomic_add(counter, 1u);
    wait_until(counter, barriers * blocks);
    fence_device();
  }
  sync_block();
}

}  // namespace kith::cuda
