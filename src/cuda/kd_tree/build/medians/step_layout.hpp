// What a block of a step between two passes keeps in shared memory, and how much of it fits: plain data, for host and
// device.
#pragma once

#include "cuda/kd_tree/build/split_state.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kPartBins = 4 * 32;  ///< of a histogram, that a warp looks through at once

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
  std::uint64_t least[kStepThreads / 32], greatest[kStepThreads / 32];  ///< keys, by warp
  std::uint64_t found_least, found_greatest;                            ///< of all keys in the bins
  std::uint64_t few_keys[kFewCandidates];
  std::uint64_t split_key;    ///< of the split, in component `split_stage`
  std::uint64_t split_first;  ///< in the first component, if that is another one
  std::uint32_t split_stage;  ///< dims + 1: the key is a rank of tied_own.cuh
  std::uint32_t split_equal;  ///< keys that are equal to it, itself included
  std::uint32_t split_rank;   ///< among them
  std::uint32_t few_places[kFewCandidates];
  std::uint32_t few;
  FoundBin found;
  std::uint32_t slots[2];
  std::uint32_t moved[2];
  std::uint32_t samples[2];  ///< of the nodes that are made known
  std::uint32_t barriers;    ///< of the blocks that share a list
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

inline constexpr std::uint32_t kNodeSamples = 8 * 32;  ///< of a node, at most
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

/// How finely a group counts, and whether its steps guess from samples.
struct StepPlan {
  std::uint32_t most_bins = kMostBins;
  bool has_samples = false;
};

/// The plan nearest to `wanted` whose steps take no more than `most_bytes` of shared memory. Bins are coarsened before
/// samples are given up: few bins make more candidates, but without samples uneven points make most of them candidates.
/// 64 KiB are enough for any dims.
template <typename T>
StepPlan fit_steps(std::uint32_t dims, StepPlan wanted, std::size_t most_bytes) {
  constexpr std::uint32_t kFewestBins = 512;  // below these samples are given up instead
  const auto fits = [&](const StepPlan& plan) {
    const std::size_t root =
        StepLayout<T>(dims, (dims + 1) * bins_at(0, dims, plan.most_bins), plan.has_samples, 0).bytes;
    const std::size_t others =
        StepLayout<T>(dims, 4 * bins_at(1, dims, plan.most_bins), plan.has_samples, kStepThreads).bytes;
    return root <= most_bytes && others <= most_bytes;
  };
  for (StepPlan plan = wanted;; plan.most_bins /= 2) {
    if (fits(plan)) return plan;
    if (plan.most_bins / 2 < kFewestBins) break;
  }
  return {wanted.most_bins, false};
}

}  // namespace kith::cuda
