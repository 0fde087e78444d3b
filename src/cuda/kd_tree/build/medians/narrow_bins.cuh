// Bins over the cells where the median of a half of a node may be, and not over all of its cells: for points that lie
// unevenly, and for cells that refine ties.
//
// Most of it the node's own histogram knows: the points of its halves are those of its lower and of its upper bins, in
// the order of the dimension in which it is split. For other dimensions there are samples. Whatever bins there are, the
// split is found exactly; good ones leave few candidates.
#pragma once

#include "cuda/kd_tree/build/medians/node_samples.cuh"
#include "cuda/kd_tree/build/ties/staged_ties.cuh"
#include "cuda/kd_tree/build/ties/tied_recode.cuh"

namespace kith::cuda {

/// Whether the cells of the step's segment refine ties; `kMayBeTied`: false if it is known that they do not.
template <bool kMayBeTied>
__device__ __forceinline__ bool is_step_tied() {
  return kMayBeTied && step_shared().is_tied != 0;
}

/// A node that is made known: where it lies, its box, its samples and its histogram.
template <typename T>
struct KnownNode {
  std::uint32_t segment, level, heap;
  const T* box;
  std::uint32_t sampled;           ///< its number among the nodes of NodeSamples
  std::uint32_t left;              ///< points that go to its left half
  const std::uint32_t* histogram;  ///< in the dimension of its split; null: there is none
  const CellBins* bins;            ///< of the histogram
};

/// How a half of a node may be counted; each lane knows of one.
template <typename T>
struct WayToCount {
  std::uint32_t dim;
  T low, high;  ///< between which the half lies
  std::uint32_t bins;
  bool is_used, is_right;
};

/// A histogram of a node that is made known, in which its halves are ranked.
struct NodeHistogram {
  std::uint32_t heap, left;  ///< the node, and how many points go to its left half
  const std::uint32_t* row;
  std::uint32_t bins;
};

/// Finds the bins of the halves of `nodes` nodes of a level, where cells refine ties: a warp for each rank that is
/// asked for, the first two warps last. The block must synchronise afterwards.
template <typename T, typename Histogram>
__device__ __forceinline__ void rank_halves(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                                            std::uint32_t nodes, const Histogram& histogram_of) {
  constexpr std::uint32_t kRanks = 3;
  const std::uint32_t warps = threads_per_block() / kWarp, first = warp_number() + (warp_number() < 2 ? warps : 0) - 2;
#pragma unroll 1
  for (std::uint32_t i = first; i < nodes * 2 * kRanks; i += warps) {
    const std::uint32_t node = i / (2 * kRanks), half = i / kRanks % 2, asked = i % kRanks;
    const NodeHistogram histogram = histogram_of(node);
    const std::uint32_t left = left_size(p, segment, level + 1, 2 * histogram.heap + half);
    const std::uint32_t rank = (half == 0 ? 0 : histogram.left) + (asked == 0   ? left / 4
                                                                   : asked == 1 ? left
                                                                                : left + left / 4 * 3);
    const std::uint32_t bin = find_bin(histogram.row, histogram.bins, step_shared().part_sums[node], rank).bin;
    RankedBins& ranked = step_shared().ranked[node][half];
    if (lane_number() == 0) (asked == 0 ? ranked.lower : asked == 1 ? ranked.median : ranked.upper) = bin;
  }
}

/// The bin of a node's histogram in which the median of that half lies of which a lane asks. The work of one warp.
template <typename T>
__device__ __forceinline__ std::uint32_t bin_of_median(const GroupParameters<T>& p, const KnownNode<T>& node,
                                                       bool is_right) {
  std::uint32_t bin = 0;
#pragma unroll 1
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t rank =
        (half == 0 ? 0 : node.left) + left_size(p, node.segment, node.level + 1, 2 * node.heap + half);
    const std::uint32_t found =
        find_bin(node.histogram, node.bins->count, step_shared().part_sums[node.sampled], rank).bin;
    if (is_right == (half == 1)) bin = found;
  }
  return bin;
}

/// Where in a histogram's cells most points of a half lie, its median among them, as far as that lies between two
/// cells. The outer bins of a histogram hold whatever lies outside: then as far again as the median is from there.
__device__ __forceinline__ MedianCells cells_of_most(const CellBins& bins, const RankedBins& ranked,
                                                     const MedianCells& all) {
  const MedianCells median = cells_of(bins, ranked.median);
  MedianCells most{bins.dim, cells_of(bins, ranked.lower).first, cells_of(bins, ranked.upper).last};
  if (ranked.lower == 0) {
    const std::uint32_t inside = cells_of(bins, 0).last, reach = 2 * (median.last > inside ? median.last - inside : 0);
    most.first = ranked.median > 0 && inside > reach ? inside - reach : 0;
  }
  if (ranked.upper + 1 == bins.count) {
    const std::uint32_t inside = cells_of(bins, ranked.upper).first;
    const std::uint32_t reach = 2 * (inside > median.first ? inside - median.first : 0);
    most.last = ranked.median + 1 < bins.count && inside + reach < kLastCell ? inside + reach : kLastCell;
  }
  if (most.first < all.first) most.first = all.first;
  if (most.last > all.last) most.last = all.last;
  return most;
}

/// The bins of the halves of a node whose cells refine ties. `dim` and `split` are those of the node; lanes that differ
/// by a multiple of four have the same way. What is known of the histogram lies in `ranked` of StepShared.
template <typename T>
KITH_NOINLINE __device__ CellBins narrow_tied_bins(const GroupParameters<T>& p, const KnownNode<T>& node,
                                                   std::uint32_t dim, const SplitRange<T>& split,
                                                   const WayToCount<T> way) {
  const std::uint32_t dims = p.shape.dims;
  const TieMap<T> map = step_ties(p, node.segment);
  const T low = node.box[dim], high = node.box[dims + 1 + dim];
  const HalfOfNode<T> half{dim, {way.is_right ? split.low : low, way.is_right ? high : split.high}, node.box};
  // A lane for the first and for the last cell, in the dimension of the way and in that of the node.
  constexpr std::uint32_t kWays = 4;
  const bool is_last = lane_number() / kWays % 2 == 1, is_of_node = lane_number() / (2 * kWays) % 2 == 1;
  const auto both = [&](std::uint32_t d, std::uint32_t cell, std::uint32_t from) {
    const std::uint32_t at = from + lane_number() % kWays;
    return MedianCells{d, shuffle(cell, at), shuffle(cell, at + kWays)};
  };
  const std::uint32_t cell = tied_cell_of_half(map, half, is_of_node ? dim : way.dim, is_last);
  sync_warp();
  MedianCells cells = both(way.dim, cell, 0);
  if (node.histogram != nullptr) {
    const RankedBins& ranked = step_shared().ranked[node.sampled][way.is_right ? 1 : 0];
    const MedianCells most = cells_of_most(*node.bins, ranked, both(dim, cell, 2 * kWays));
    RecodedCell recoded{is_last ? most.last : most.first, way.dim == dim};
    if (way.dim != dim && half.range.low == half.range.high && dim < dims) {
      const auto side = [&](std::uint32_t d) { return node.box[dims + 1 + d] - node.box[d]; };
      if (are_ordered_alike(dims, dim, way.dim, side)) recoded = recode_cell(map, dim, way.dim, recoded.cell, is_last);
    }
    sync_warp();
    const MedianCells found = both(way.dim, recoded.cell, 0);
    const MedianCells known = both(way.dim, recoded.is_known ? 1 : 0, 0);
    if (known.first != 0 && known.last != 0 && (way.dim == dim || found.first <= found.last)) cells = found;
  }
  return bins_over(cells.first, cells.last, way.dim, way.bins);
}

/// The same for points that lie unevenly; there are samples.
template <typename T>
__device__ __forceinline__ CellBins narrow_uneven_bins(const GroupParameters<T>& p, const KnownNode<T>& node,
                                                       std::uint32_t dim, const SplitRange<T> split,
                                                       WayToCount<T> way) {
  bool is_known = false;
  CellBins bins;
  if (node.histogram != nullptr) {
    const std::uint32_t median = bin_of_median(p, node, way.is_right);
    is_known = way.dim == dim && median > 0 && median + 1 < node.bins->count;
    if (is_known) bins = bins_around(cells_of(*node.bins, median), way.bins);
    sync_warp();
  }
  if (dim < p.shape.dims) {
    const T middle = split.low + (split.high - split.low) / 2;
#pragma unroll 1
    for (std::uint32_t lanes = ballot(way.is_used && way.dim < p.shape.dims && !is_known); lanes != 0;
         lanes &= lanes - 1) {
      const std::uint32_t lane = lowest_bit(lanes);
      const bool is_right = shuffle(way.is_right ? 1u : 0u, lane) != 0;
      const GuessedRange<T> range =
          guess_median(p.shape.dims, node.sampled, dim, middle, is_right, shuffle(way.dim, lane));
      if (range.is_known && lane_number() == lane) {
        way.low = range.low;
        way.high = range.high;
      }
    }
  }
  if (is_known) return bins;
  const CellScale<T> scale = staged_scale(p, node.segment, way.dim);
  return bins_around({way.dim, cell_of(scale, way.low), cell_of(scale, way.high)}, way.bins);
}

}  // namespace kith::cuda
