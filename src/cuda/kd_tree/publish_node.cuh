// What is made known of a node once its median's bin is found: how its points are told apart in the next pass, and how
// those of its halves are counted there. Each function is the work of one warp.
#pragma once

#include "cuda/kd_tree/segment_slice.cuh"
#include "cuda/kd_tree/super_key.cuh"

namespace kith::cuda {

template <typename T>
struct WidestSide {
  T side;
  std::uint32_t dim;  ///< the lowest of the widest
};

/// The widest side of a box, dimension `except` left out. No dimension: side 0.
template <typename T>
__device__ WidestSide<T> widest_side(const T* box, std::uint32_t dims, std::uint32_t except) {
  using Key = OrderedKey<T>;
  Key widest = 0;
  std::uint32_t dim = dims;
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
__device__ std::uint32_t working_dim(const GroupParameters<T>& p, const T* box, std::uint32_t level) {
  const WidestSide<T> widest = widest_side(box, p.shape.dims, 0xffffffffu);
  if (!(widest.side > T(0))) return p.shape.dims;
  return p.shape.cycles ? (p.first_level + level) % p.shape.dims : widest.dim;
}

/// The dimension that the tree notes for a node.
template <typename T>
__device__ std::uint32_t noted_dim(const GroupParameters<T>& p, std::uint32_t level, std::uint32_t dim) {
  if (p.shape.cycles) return (p.first_level + level) % p.shape.dims;
  return dim < p.shape.dims ? dim : 0;
}

/// Where the split of a node lies for certain, given its median's bin.
template <typename T>
struct SplitRange {
  T low, high;
};

template <typename T>
__device__ SplitRange<T> split_range(const Bins<T>& bins, std::uint32_t bin, std::uint32_t count, T box_low,
                                     T box_high) {
  // A bin more on both sides makes up for all rounding.
  SplitRange<T> range{bins.low + (static_cast<T>(bin) - T(1)) / bins.scale,
                      bins.low + (static_cast<T>(bin) + T(2)) / bins.scale};
  if (bin == 0 || !(range.low > box_low)) range.low = box_low;
  if (bin + 1 == count || !(range.high < box_high)) range.high = box_high;
  return range;
}

/// How the points of one half of a node are counted before its split is known: by each dimension that may be the one in
/// which the half is split.
template <typename T>
__device__ CountedBins<T> bins_of_half(const GroupParameters<T>& p, const T* box, std::uint32_t level,
                                       std::uint32_t dim, const WidestSide<T>& other, const SplitRange<T>& split,
                                       bool is_right) {
  const std::uint32_t dims = p.shape.dims, bins = bins_at(level + 1, dims, p.most_bins);
  const T low = is_right ? split.low : box[dim];
  const T high = is_right ? box[dims + 1 + dim] : split.high;
  const auto bins_in = [&](std::uint32_t d) {
    return d == dim ? bins_over(low, high, d, bins) : bins_over(box[d], box[dims + 1 + d], d, bins);
  };
  CountedBins<T> counted;
  if (dim == dims) {  // all equal: so are those of the halves
    counted.slots[0] = bins_in(dims);
    counted.used = 1;
    return counted;
  }
  const T least = is_right ? box[dims + 1 + dim] - split.high : split.low - box[dim];
  const T most = is_right ? box[dims + 1 + dim] - split.low : split.high - box[dim];
  const bool may_be_equal = !(other.side > T(0)) && !(least > T(0));
  const auto count_by = [&](std::uint32_t d) { counted.slots[counted.used++] = bins_in(d); };
  if (p.shape.cycles) {
    count_by((p.first_level + level + 1) % dims);
    if (may_be_equal) count_by(dims);
  } else if (may_be_equal) {
    count_by(dim);
    count_by(dims);
  } else {
    if (most >= other.side) count_by(dim);
    if (other.side > T(0) && !(least > other.side)) count_by(other.dim);
  }
  return counted;
}

/// Makes known node `heap`, `level` levels below its segment, with its box and its median's bin.
template <typename T>
__device__ void publish_node(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level,
                             std::uint32_t heap, const T* box, const Bins<T>& bins, std::uint32_t median_bin,
                             std::uint32_t needed) {
  const std::uint64_t at = std::uint64_t{segment} * kHeap + heap;
  if (lane_number() == 0) {
    SplitNode<T> node;
    node.bins = bins;
    node.median_bin = median_bin;
    node.needed = needed;
    p.nodes[at] = node;
  }
  if (level + 1 >= p.levels) return;
  const std::uint32_t dims = p.shape.dims;
  const SplitRange<T> split =
      split_range(bins, median_bin, bins_at(level, dims, p.most_bins), box[bins.dim], box[dims + 1 + bins.dim]);
  const WidestSide<T> other = widest_side(box, dims, bins.dim);
  if (lane_number() < 2) {
    p.counted[at + heap + lane_number()] = bins_of_half(p, box, level, bins.dim, other, split, lane_number() == 1);
  }
}

}  // namespace kith::cuda
