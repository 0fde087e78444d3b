// The box by which a node splits: its widest side, and the boxes of its children.
#pragma once

#include "cuda/kd_tree/build/finish/finish_subtree.cuh"

#include <limits>

namespace kith::cuda {

/// The side on which a node splits. Never -0.
template <typename T>
struct SplitSide {
  std::uint32_t dim = 0;
  T lower = 0;
  T upper = 0;
};

/// Chooses among sides that are offered from dimension 0 on. Ties go to the lowest dimension.
template <typename T, bool kStaged>
class SideChooser {
 public:
  __device__ __forceinline__ SideChooser(const Subtree<T, kStaged>& subtree, std::uint32_t depth)
      : cycles_(subtree.given.shape.cycles), next_(cycles_ ? (subtree.given.top_level + depth) % subtree.dims : 0) {}

  __device__ __forceinline__ void offer(std::uint32_t d, T lower, T upper) {
    const T extent = upper - lower;
    if (cycles_ ? d == next_ : d == 0 || extent > extent_) {
      side_ = {d, lower, upper};
      extent_ = extent;
    }
  }
  __device__ __forceinline__ SplitSide<T> side() const { return side_; }

 private:
  bool cycles_;
  std::uint32_t next_;
  SplitSide<T> side_;
  T extent_ = 0;
};

/// Of a box [lower, upper][dims] that was found before.
template <typename T, bool kStaged>
__device__ __forceinline__ SplitSide<T> side_of_box(const Subtree<T, kStaged>& subtree, std::uint32_t depth,
                                                    const T* box) {
  const std::uint32_t first = subtree.given.shape.cycles ? (subtree.given.top_level + depth) % subtree.dims : 0;
  SplitSide<T> side{first, box[first], box[subtree.dims + first]};
  if (subtree.given.shape.cycles) return side;
  T extent = side.upper - side.lower;
  const auto offer = [&](std::uint32_t d, T lower, T upper) {
    const bool is_wider = upper - lower > extent;
    extent = is_wider ? upper - lower : extent;
    side.dim = is_wider ? d : side.dim;
    side.lower = is_wider ? lower : side.lower;
    side.upper = is_wider ? upper : side.upper;
  };
#pragma unroll 1
  for (std::uint32_t d = 1; d < subtree.dims; d += 2) {  // two at a time, so that their loads are in flight together
    const std::uint32_t other = d + 1 < subtree.dims ? d + 1 : d;
    const T lower = box[d], upper = box[subtree.dims + d];
    const T other_lower = box[other], other_upper = box[subtree.dims + other];
    offer(d, lower, upper);
    offer(other, other_lower, other_upper);
  }
  return side;
}

/// The component of the super-key at which points of the node begin to differ, as far as the side tells.
template <typename T, bool kStaged>
__device__ __forceinline__ std::uint32_t first_component(const Subtree<T, kStaged>& subtree, const SplitSide<T>& side) {
  if (side.lower != side.upper) return 0;
  return subtree.given.shape.cycles ? 1 : subtree.dims;  // the widest side is nothing: the points are equal
}

/// The least and the greatest ordered key of some points.
template <typename T>
struct KeyRange {
  OrderedKey<T> low = ordered_key(std::numeric_limits<T>::infinity());
  OrderedKey<T> high = ordered_key(-std::numeric_limits<T>::infinity());

  __device__ __forceinline__ void add(OrderedKey<T> key) { add(key, key); }
  __device__ __forceinline__ void add(OrderedKey<T> other_low, OrderedKey<T> other_high) {
    low = other_low < low ? other_low : low;
    high = other_high > high ? other_high : high;
  }
  /// Joins the ranges of `lanes` neighbouring lanes, a power of two.
  __device__ __forceinline__ void join_lanes(std::uint32_t lanes) {
    for (std::uint32_t step = lanes / 2; step > 0; step /= 2) add(shuffle_xor(low, step), shuffle_xor(high, step));
  }
};

/// Gives the children of a node its box, cut at the split, if they need one. `box` may be where the left child's goes.
/// Thread `rank` of the `threads` that own the node; all have read the box.
template <typename T, bool kStaged>
__device__ __forceinline__ void hand_down_box(const Subtree<T, kStaged>& subtree, const FinishNode& node,
                                              const SplitSide<T>& side, T split_value, const T* box, std::uint32_t rank,
                                              std::uint32_t threads) {
  const std::uint32_t depth = node.depth + 1, dims = subtree.dims;
  if (depth == subtree.levels || subtree.is_tight(depth)) return;
  const auto cut = [&](T* left, T* right) {
#pragma unroll 1
    for (std::uint32_t i = rank; i < 2 * dims; i += threads) {
      const bool is_cut_above = i == dims + side.dim;
      const T own = is_cut_above ? side.upper : box[i];
      right[i] = i == side.dim ? split_value : own;
      left[i] = is_cut_above ? split_value : own;
    }
  };
  if (threads > 2) {  // apart, so that the compiler knows which memory it is
    cut(subtree.team_box(depth, 2 * node.number), subtree.team_box(depth, 2 * node.number + 1));
  } else {
    cut(subtree.tree_box(depth, 2 * node.number), subtree.tree_box(depth, 2 * node.number + 1));
  }
}

}  // namespace kith::cuda
