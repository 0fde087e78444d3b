// The kernels that check ties: where points of both halves of a node lie on its split value, the rest of the super-key
// must tell the halves apart.
//
// For each node with a tie: the last such point of its left half comes before the first of its right half. A warp takes
// the 32 leaves of a subtree and finds their extreme point for every ancestor; nodes inside the subtree are decided at
// once, for those above one candidate per subtree is handed to the next step, which joins 32 subtrees, and so on to the
// root. A leaf is read for an ancestor only if its box reaches the split: never without ties, for at most 2 dims
// ancestors on a grid.
#pragma once

#include "cuda/kd_tree/check/check_tree.cuh"

namespace kith::cuda {

/// A point by where it lies: leaf * kMostPerLeaf + its place in the leaf.
using LeafPlace = std::uint64_t;
inline constexpr LeafPlace kNoPlace = ~LeafPlace{0};
/// A warp's lanes hold a bit for each point of a leaf.
inline constexpr std::uint32_t kMostPerLeaf = 1024;
/// Levels that a step joins: a warp has a lane for each subtree.
inline constexpr std::uint32_t kLevelsPerJoin = 5;

/// The level of the nodes whose candidates a step writes, from that of those it reads.
KITH_HOST_DEVICE constexpr std::uint32_t level_after_join(std::uint32_t level) {
  return level > kLevelsPerJoin ? level - kLevelsPerJoin : 0;
}

/// By the super-key of dimension d.
template <typename T>
__device__ bool precedes(const TreeCheck<T>& check, LeafPlace a, LeafPlace b, std::uint32_t d) {
  const LeafBlock<T> block_a(check, a / kMostPerLeaf), block_b(check, b / kMostPerLeaf);
  const std::uint32_t i = a % kMostPerLeaf, j = b % kMostPerLeaf, dims = check.shape.dims;
  for (std::uint32_t step = 0; step < dims; ++step) {
    const std::uint32_t axis = d + step < dims ? d + step : d + step - dims;
    const T x = block_a.column(axis)[i], y = block_b.column(axis)[j];
    if (x != y) return x < y;
  }
  return block_a.numbers[i] < block_b.numbers[j];
}

/// Of the points of a leaf whose coordinate d is `value`, the first or the last by the super-key of d; the whole warp
/// asks for the same leaf. One component after the other leaves ever fewer of them; in the end the number decides,
/// which is the place in the leaf.
template <typename T>
__device__ LeafPlace extreme_of_leaf(const TreeCheck<T>& check, std::uint64_t leaf, std::uint32_t d, T value,
                                     bool wants_last) {
  using Key = OrderedKey<T>;
  const LeafBlock<T> block(check, leaf);
  const std::uint32_t dims = check.shape.dims;
  std::uint32_t alive = 0;  // bit b: point lane + 32 b
  for (std::uint32_t i = lane_number(); i < block.count; i += kWarp) {
    if (block.column(d)[i] == value) alive |= 1u << (i / kWarp);
  }
  for (std::uint32_t step = 1; step < dims && sum_of_warp(count_bits(alive)) > 1; ++step) {
    const std::uint32_t axis = d + step < dims ? d + step : d + step - dims;
    const auto key_at = [&](std::uint32_t bit) { return ordered_key(block.column(axis)[lane_number() + kWarp * bit]); };
    Key best = wants_last ? Key{0} : ~Key{0};
    for (std::uint32_t rest = alive; rest != 0; rest &= rest - 1) {
      const Key key = key_at(lowest_bit(rest));
      if (wants_last ? key > best : key < best) best = key;
    }
    best = wants_last ? max_of_warp(best) : min_of_warp(best);
    for (std::uint32_t rest = alive; rest != 0; rest &= rest - 1) {
      if (key_at(lowest_bit(rest)) != best) alive ^= rest & (0u - rest);
    }
  }
  const std::uint32_t bit = alive == 0 ? 0 : wants_last ? 31 - leading_zeros(alive) : lowest_bit(alive);
  const std::uint32_t i = lane_number() + kWarp * bit;
  if (wants_last) {
    const std::uint32_t end = max_of_warp(alive == 0 ? 0u : i + 1);
    return end == 0 ? kNoPlace : leaf * kMostPerLeaf + (end - 1);
  }
  const std::uint32_t first = min_of_warp(alive == 0 ? kMostPerLeaf : i);
  return first == kMostPerLeaf ? kNoPlace : leaf * kMostPerLeaf + first;
}

/// Node j of a level, and whether it lies in the left half of its ancestor at `above`.
__device__ inline bool is_left_of(std::uint32_t level, std::uint64_t j, std::uint32_t above) {
  return ((j >> (level - above - 1)) & 1) == 0;
}

/// Whether a leaf may hold the extreme point of its half of the ancestor at level `above`, and the ancestor has a tie.
template <typename T>
__device__ bool reaches_tie(const TreeCheck<T>& check, std::uint64_t leaf, std::uint32_t above) {
  const std::uint32_t levels = check.shape.geometry.levels;
  const std::uint64_t node = core::KdGeometry::node(levels, leaf);
  const std::uint64_t ancestor = core::KdGeometry::node(above, leaf >> (levels - above));
  const std::uint32_t d = check.tree.split_dims[ancestor];
  if (d >= check.shape.dims) return false;
  const T value = check.tree.split_values[ancestor];
  if (is_left_of(levels, leaf, above)) return check.upper(node)[d] == value;
  return check.lower(node)[d] == value && check.upper(2 * ancestor + 1)[d] == value;
}

/// Joins the candidates of the warp's nodes, lane i that of node `first + i` of level `from`, for their ancestor at
/// level `above`: hands on one for all of them if it lies above `to`, the level of their common ancestor, or decides
/// it.
template <typename T>
__device__ void join_candidates(const TreeCheck<T>& check, std::uint32_t from, std::uint32_t to, std::uint64_t common,
                                std::uint32_t above, LeafPlace mine, LeafPlace* out) {
  LeafPlace* const target = out + (std::uint64_t{above} << to) + common;
  if (!any_lane(mine != kNoPlace)) {
    if (above < to && lane_number() == 0) *target = kNoPlace;
    return;
  }
  const std::uint64_t j = (common << (from - to)) + lane_number() % (1u << (from - to));
  const std::uint32_t d = check.tree.split_dims[core::KdGeometry::node(above, j >> (from - above))];
  const bool is_left = is_left_of(from, j, above);
  const std::uint32_t half = above < to ? kWarp : 1u << (from - above - 1);  // lanes of the same half
  for (std::uint32_t step = 1; step < half; step *= 2) {
    const LeafPlace other = shuffle_xor(mine, step);
    if (mine == kNoPlace || (other != kNoPlace && precedes(check, mine, other, d) == is_left)) mine = other;
  }
  if (above < to) {
    if (lane_number() == 0) *target = mine;
    return;
  }
  const LeafPlace other = shuffle_xor(mine, half);
  if (is_left && mine != kNoPlace && other != kNoPlace && !precedes(check, mine, other, d)) {
    atomic_or(check.refused, 1u);
  }
}

/// The first step: from the points of 32 leaves. `out` is [ancestor's level][node of level_after_join(levels)].
template <typename T>
__global__ void __launch_bounds__(kCheckThreads) check_ties_of_leaves(TreeCheck<T> check, LeafPlace* out) {
  if (*check.has_ties == 0) return;
  const std::uint32_t levels = check.shape.geometry.levels, to = level_after_join(levels);
  const std::uint32_t width = 1u << (levels - to);
  for (std::uint64_t common = warp_in_grid(); common < (std::uint64_t{1} << to); common += warps_in_grid()) {
    const std::uint64_t first = common * width;
    for (std::uint32_t above = 0; above < levels; ++above) {
      const bool asks = lane_number() < width && reaches_tie(check, first + lane_number() % width, above);
      LeafPlace mine = kNoPlace;
      for (std::uint32_t owners = ballot(asks); owners != 0; owners &= owners - 1) {
        const std::uint64_t leaf = first + lowest_bit(owners);
        const std::uint64_t ancestor = core::KdGeometry::node(above, leaf >> (levels - above));
        const LeafPlace found = extreme_of_leaf(check, leaf, check.tree.split_dims[ancestor],
                                                check.tree.split_values[ancestor], is_left_of(levels, leaf, above));
        if (lane_number() == lowest_bit(owners)) mine = found;
      }
      join_candidates(check, levels, to, common, above, mine, out);
    }
  }
}

/// A later step: from the candidates of 32 nodes of level `from`, in the form of `out`.
template <typename T>
__global__ void __launch_bounds__(kCheckThreads)
    check_ties_above(TreeCheck<T> check, std::uint32_t from, const LeafPlace* in, LeafPlace* out) {
  if (*check.has_ties == 0) return;
  const std::uint32_t to = level_after_join(from);
  const std::uint32_t width = 1u << (from - to);
  for (std::uint64_t common = warp_in_grid(); common < (std::uint64_t{1} << to); common += warps_in_grid()) {
    for (std::uint32_t above = 0; above < from; ++above) {
      const LeafPlace* candidates = in + (std::uint64_t{above} << from) + common * width;
      const LeafPlace mine = lane_number() < width ? candidates[lane_number()] : kNoPlace;
      join_candidates(check, from, to, common, above, mine, out);
    }
  }
}

}  // namespace kith::cuda
