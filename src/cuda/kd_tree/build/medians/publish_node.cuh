// What is published of a node once the cells of its median are found: how its points are classified in the next pass
// or in the scatter, and how those of its halves are counted in the pass. Functions are the work of one warp, unless
// they say otherwise.
#pragma once

#include "cuda/kd_tree/build/medians/narrow_bins.cuh"
#include "cuda/kd_tree/build/super_key.cuh"
#include "cuda/kd_tree/build/ties/tied_bounds.cuh"

namespace kith::cuda {

template <typename T>
struct WidestSide {
  T side;
  std::uint32_t dim;  ///< the lowest of the widest
};

/// The widest side of a box, dimension `except` left out. No dimension: side 0.
template <typename T>
__device__ __forceinline__ WidestSide<T> widest_side(const T* box, std::uint32_t dims, std::uint32_t except) {
  using Key = OrderedKey<T>;
  Key widest = 0;
  std::uint32_t dim = dims;
#pragma unroll 1
  for (std::uint32_t d = lane_number(); d < dims; d += kWarp) {
    if (d == except) continue;
    const Key side = ordered_key(box[dims + 1 + d] - box[d]);
    if (side > widest) {
      widest = side;
      dim = d;
    }
  }
  sync_warp();
  const Key best = max_of_warp(widest);
  if (best == 0) return {T(0), dims};
  return {value_of_key<T>(best), min_of_warp(widest == best ? dim : 0xffffffffu)};
}

/// The dimension by which a node's points are told apart: the one that the rule splits, or their number if they are all
/// equal.
template <typename T>
__device__ __forceinline__ std::uint32_t working_dim(const GroupParameters<T>& p, const T* box, std::uint32_t level) {
  const WidestSide<T> widest = widest_side(box, p.shape.dims, 0xffffffffu);
  if (!(widest.side > T(0))) return p.shape.dims;
  return p.shape.cycles ? (p.first_level + level) % p.shape.dims : widest.dim;
}

/// The dimension that the tree notes for a node.
template <typename T>
__device__ __forceinline__ std::uint32_t noted_dim(const GroupParameters<T>& p, std::uint32_t level,
                                                   std::uint32_t dim) {
  if (p.shape.cycles) return (p.first_level + level) % p.shape.dims;
  return dim < p.shape.dims ? dim : 0;
}

/// The box of one half of a node, to two places: the node's own, cut at the split.
template <typename T>
__device__ __forceinline__ void cut_box(const T* box, T* half, T* known, std::uint32_t dims, std::uint32_t dim, T split,
                                        bool is_right) {
#pragma unroll 1
  for (std::uint32_t d = lane_number(); d <= dims; d += kWarp) {
    const T low = d == dim && is_right ? split : box[d];
    const T high = d == dim && !is_right ? split : box[dims + 1 + d];
    half[d] = known[d] = low;
    half[dims + 1 + d] = known[dims + 1 + d] = high;
  }
  sync_warp();
}

/// Where the split of a node lies for certain, in a step.
template <bool kMayBeTied, typename T>
__device__ __forceinline__ SplitRange<T> known_split_range(const GroupParameters<T>& p, std::uint32_t segment,
                                                           const CellScale<T>& scale, const MedianCells& median,
                                                           const T* box) {
  const T low = box[median.dim], high = box[p.shape.dims + 1 + median.dim];
  if (is_step_tied<kMayBeTied>()) return tied_split_range(step_ties(p, segment), median, low, high);
  return split_range(scale, median, low, high);
}

/// Notes what the cells of the median of a node say of its candidates: for the scatter, if it is one of the last level,
/// and between which numbers theirs lie, if they are all equal.
template <typename T>
KITH_NOINLINE __device__ void note_candidate_bounds(const GroupParameters<T>& p, const KnownNode<T>& known,
                                                    SplitNode<T>& node) {
  const TieMap<T> map = step_ties(p, known.segment);
  const bool is_last = known.level + 1 == p.levels;
  const EqualPoints equal = find_tied_bounds(map, node.median, is_last ? &p.tied_bounds[known.segment] : nullptr,
                                             known.heap - (1u << known.level));
  if (!equal.are_equal) return;
  const auto last = static_cast<T>(p.shape.geometry.points - 1);
  const SplitRange<T> range = split_range(map.ties->scales[map.dims], {map.dims, equal.first, equal.last}, T(0), last);
  node.first_number = to_unsigned(range.low);
  node.last_number = to_unsigned(range.high < last ? range.high : last);
}

/// Publishes how the points of the halves of a node are counted before its split is known: by each dimension that may
/// be the one in which a half is split, at most two. `other` is the widest dimension but that of the node's own split.
template <bool kMayBeTied, typename T>
__device__ __forceinline__ void publish_bins_of_halves(const GroupParameters<T>& p, CountedBins* halves,
                                                       const KnownNode<T>& node, const MedianCells& median,
                                                       const WidestSide<T>& other, const SplitRange<T>& split) {
  const T* box = node.box;
  const std::uint32_t dim = median.dim;
  const std::uint32_t dims = p.shape.dims, slot = lane_number() % 2;  // a lane for each half and slot
  const bool is_right = lane_number() / 2 % 2 == 1;
  const T box_low = box[dim], box_high = box[dims + 1 + dim];
  const T least = is_right ? box_high - split.high : split.low - box_low;
  const T most = is_right ? box_high - split.low : split.high - box_low;
  const bool may_be_equal = !(other.side > T(0)) && !(least > T(0));
  std::uint32_t ways[2] = {dim, other.dim};
  bool is_first = most >= other.side, is_second = other.side > T(0) && !(least > other.side);
  if (may_be_equal || p.shape.cycles) {
    is_first = true;
    is_second = may_be_equal;
    ways[1] = dims;
  }
  if (p.shape.cycles) ways[0] = (p.first_level + node.level + 1) % dims;
  if (dim == dims) {  // all equal: so are those of the halves
    is_first = true;
    is_second = false;
    ways[0] = dims;
  }
  const std::uint32_t used = is_first && is_second ? 2 : 1, level = node.level + 1;
  const std::uint32_t bins =
      used == 2 ? bins_at(level, dims, p.most_bins) : wide_bins_at(level, dims, p.most_bins, p.uses_all_counters);
  WayToCount<T> way{slot == 0 && is_first ? ways[0] : ways[1], 0, 0, bins, lane_number() < 4 && slot < used, is_right};
  way.low = way.dim == dim && is_right ? split.low : box[way.dim];
  way.high = way.dim == dim && !is_right ? split.high : box[dims + 1 + way.dim];
  CellBins counted;
  if (is_step_tied<kMayBeTied>()) {
    counted = narrow_tied_bins(p, node, dim, split, way);
  } else if (step_shared().samples[node.sampled] > 0) {
    counted = narrow_uneven_bins(p, node, dim, split, way);
  } else {
    const CellScale<T> scale = staged_scale(p, node.segment, way.dim);
    counted = bins_over(cell_of(scale, way.low), cell_of(scale, way.high), way.dim, bins);
  }
  if (lane_number() >= 4) return;
  CountedBins& half = halves[is_right ? 1 : 0];
  half.slots[slot] = counted;
  (slot == 0 ? half.used : half.unused) = slot == 0 ? used : 0;
}

/// Makes known a node with the cells of its median.
template <bool kMayBeTied, typename T>
__device__ __forceinline__ void publish_node(const GroupParameters<T>& p, const KnownNode<T>& node,
                                             const MedianCells& median, std::uint32_t needed) {
  const std::uint64_t at = std::uint64_t{node.segment} * kHeap + node.heap;
  const CellScale<T> scale = staged_scale(p, node.segment, median.dim);
  const SplitRange<T> split = known_split_range<kMayBeTied>(p, node.segment, scale, median, node.box);
  if (is_step_tied<kMayBeTied>()) {
    SplitNode<T> known;
    known.median = median;
    known.scale = {split.low, split.high};
    known.needed = needed;
    note_candidate_bounds(p, node, known);
    if (lane_number() == 0) p.nodes[at] = known;
  } else if (lane_number() == 0) {
    SplitNode<T> known;
    known.median = median;
    known.scale = scale;
    known.needed = needed;
    p.nodes[at] = known;
  }
  if (node.level + 1 >= p.levels) return;
  const std::uint32_t dims = p.shape.dims, dim = median.dim;
  const WidestSide<T> other = widest_side(node.box, dims, dim);
  publish_bins_of_halves<kMayBeTied>(p, &p.counted[at + node.heap], node, median, other, split);
}

}  // namespace kith::cuda
