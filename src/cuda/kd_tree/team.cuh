// The threads of a block, or of several blocks, working on one node.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/split_state.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t kPartBins = 4 * kWarp;  ///< of a histogram, that a warp looks through at once

/// A bin of a histogram.
struct FoundBin {
  std::uint32_t bin, below, count;  ///< its number, how many are below it, how many in it
};

/// Bins of a node's histogram in which some points of a half of it lie: the median of the half, and those between which
/// most of the others are.
struct RankedBins {
  std::uint32_t lower, median, upper;
};

inline constexpr std::uint32_t kOwnBins = kPartBins;  ///< over the candidates that threads have of their own
inline constexpr std::uint32_t kOwnSlots = 14;        ///< candidates of a bin that are noted

/// A histogram of the candidates of the threads of a block.
struct OwnBins {
  std::uint32_t counts[kOwnBins];
  std::uint16_t threads[kOwnBins][kOwnSlots];  ///< whose candidates they are, the first of each bin
};
static_assert(sizeof(OwnBins) <= 4 * kSelectBins);

/// The same of candidates whose cells refine ties, cut into as many parts by the ranks of some of them.
struct TiedParts {
  std::uint32_t counts[kOwnBins];
  std::uint64_t cuts[kOwnBins];  ///< ascending
};
static_assert(sizeof(TiedParts) <= 4 * kSelectBins);

/// The shared memory of a block that works on a node. Behind it lie the node, boxes, the candidates of its threads,
/// histograms of its halves, and room for the tables of tied points.
struct StepShared {
  std::uint64_t least[kWarp], greatest[kWarp];  ///< keys, by warp
  std::uint64_t found_least, found_greatest;    ///< of all keys in the bins
  std::uint64_t few_keys[kFew];
  std::uint64_t split_key;    ///< of the split, in component `split_stage`
  std::uint64_t split_first;  ///< in the first component, if that is another one
  std::uint32_t split_stage;  ///< dims + 1: the key is a rank of tied_own.cuh
  std::uint32_t split_equal;  ///< keys that are equal to it, itself included
  std::uint32_t split_rank;   ///< among them
  std::uint32_t few_places[kFew];
  std::uint32_t few;
  FoundBin found;
  std::uint32_t slots[2];
  std::uint32_t moved[2];
  std::uint32_t samples[2];  ///< of the nodes that are made known
  std::uint32_t meetings;    ///< of the blocks that share a list
  std::uint32_t is_tied;     ///< whether the cells of the segment refine ties
  std::uint32_t ties_at;     ///< where its tables lie in shared memory, if so; 0: they do not
  std::uint32_t part_sums[2][kMostBins / kPartBins];
  RankedBins ranked[2][2];    ///< by node that is made known and half of it, where cells refine ties
  std::uint32_t split_place;  ///< not beside words with which it may be read while it is written
  union {
    std::uint32_t histogram[kSelectBins];
    OwnBins own_bins;  ///< before there is need for the other one
    TiedParts parts;   ///< the same
  };
};

__device__ __forceinline__ StepShared& step_shared() { return *reinterpret_cast<StepShared*>(shared_memory()); }

inline constexpr std::uint32_t kNodeSamples = 8 * kWarp;  ///< of a node, at most
/// Room for the samples of two nodes: for one dimension, and as much once more for what is made of them.
template <typename T>
inline constexpr std::size_t kSampleBytes = 2 * kNodeSamples * sizeof(T);

/// Room for how a segment uses its tables; the tables lie behind.
template <typename T>
inline constexpr std::size_t kTiesBytes = (sizeof(TiedCells<T>) + 15) / 16 * 16;

/// Where the parts behind StepShared begin.
template <typename T>
struct StepLayout {
  std::size_t node, counted, scales, boxes, samples, keys, places, rows, ties, bytes;

  /// `counters` of histograms; `has_samples`: there is room for them; `threads` that have a candidate of their own.
  KITH_HOST_DEVICE StepLayout(std::uint32_t dims, std::uint32_t counters, bool has_samples, std::uint32_t threads) {
    const auto round = [](std::size_t bytes_of) { return (bytes_of + 15) / 16 * 16; };
    node = round(sizeof(StepShared));
    counted = node + round(sizeof(SplitNode<T>));
    scales = counted + round(2 * sizeof(CountedBins));
    boxes = scales + (dims <= kStagedDims ? round(sizeof(CellScale<T>) * (dims + 1)) : 0);
    samples = boxes + (dims <= kStagedDims ? round(3 * 2 * sizeof(T) * (dims + 1)) : 0);
    keys = samples + (has_samples ? round(kSampleBytes<T> * (dims + 1)) : 0);
    places = keys + round(sizeof(OrderedKey<T>) * threads);
    rows = places + round(4 * std::size_t{threads});
    ties = rows + round(4 * std::size_t{counters});
    bytes = ties + (dims <= kOwnDims ? kTiesBytes<T> + sizeof(T) * kTableValues * dims : 0);
  }
};

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
