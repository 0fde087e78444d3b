// Bins over the cells where the median of a half of a node may be, and not over all of its cells: for points that lie
// unevenly, and for cells that refine ties.
//
// Most of it the node's own histogram knows: the points of its halves are those of its lower and of its upper bins, in
// the order of the dimension in which it is split. For other dimensions there are samples. Whatever bins there are, the
// split is found exactly; good ones leave few candidates.
#pragma once

#include "cuda/kd_tree/node_samples.cuh"
#include "cuda/kd_tree/staged_ties.cuh"
#include "cuda/kd_tree/tied_recode.cuh"

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

/// Bins of a node's histogram in which points of a given rank of a half lie.
struct RankedBins {
  std::uint32_t lower, median, upper;
};

/// Those of the half of which a lane asks: of its median, and if `has_bounds` of the points between which most of the
/// others lie. The work of one warp.
template <typename T>
__device__ __forceinline__ RankedBins rank_in_histogram(const GroupParameters<T>& p, const KnownNode<T>& node,
                                                        bool is_right, bool has_bounds) {
  RankedBins ranked{};
#pragma unroll 1
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t before = half == 0 ? 0 : node.left;
    const std::uint32_t left = left_size(p, node.segment, node.level + 1, 2 * node.heap + half);
    const auto bin_at = [&](std::uint32_t rank) {
      return find_bin(node.histogram, node.bins->count, step_shared().part_sums[node.sampled], before + rank).bin;
    };
    const std::uint32_t median = bin_at(left);
    const std::uint32_t lower = has_bounds ? bin_at(left / 4) : median;
    const std::uint32_t upper = has_bounds ? bin_at(left + left / 4 * 3) : median;
    if (is_right == (half == 1)) ranked = {lower, median, upper};
  }
  return ranked;
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

/// The bins of the halves of a node whose cells refine ties. `dim` and `split` are those of the node.
template <typename T>
KITH_NOINLINE __device__ CellBins narrow_tied_bins(const GroupParameters<T>& p, const KnownNode<T>& node,
                                                   std::uint32_t dim, const SplitRange<T>& split,
                                                   const WayToCount<T> way) {
  const std::uint32_t dims = p.shape.dims;
  const TieMap<T> map = step_ties(p, node.segment);
  const T low = node.box[dim], high = node.box[dims + 1 + dim];
  const HalfOfNode<T> half{dim, {way.is_right ? split.low : low, way.is_right ? high : split.high}, node.box};
  if (node.histogram != nullptr) {
    const RankedBins ranked = rank_in_histogram(p, node, way.is_right, true);
    MedianCells cells = cells_of_most(*node.bins, ranked, tied_cells_of_half(map, half, dim));
    bool is_known = way.dim == dim;
    if (!is_known && half.range.low == half.range.high && dim < dims) {
      const auto side = [&](std::uint32_t d) { return node.box[dims + 1 + d] - node.box[d]; };
      is_known = are_ordered_alike(dims, dim, way.dim, side) && recode_cells(map, way.dim, cells);
    }
    sync_warp();
    if (is_known) return bins_over(cells.first, cells.last, way.dim, way.bins);
  }
  const MedianCells cells = tied_cells_of_half(map, half, way.dim);
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
    const RankedBins ranked = rank_in_histogram(p, node, way.is_right, false);
    is_known = way.dim == dim && ranked.median > 0 && ranked.median + 1 < node.bins->count;
    if (is_known) bins = bins_around(cells_of(*node.bins, ranked.median), way.bins);
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
