// The nearest point of one query, found by one thread in a k-d tree of 2 or 3 dims: for queries that bring a good bound
// along.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/kd_tree/search/search_types.hpp"

#include <cstdint>

namespace kith::cuda {

/// The best so far: the least reduced distance under L2, then the least number.
template <typename T>
struct NearestPoint {
  T reduced;
  std::uint32_t number;

  KITH_HOST_DEVICE void offer(T other, std::uint32_t other_number) {
    if (other < reduced || (other == reduced && other_number < number)) {
      reduced = other;
      number = other_number;
    }
  }
  /// Whether a node may hold something better.
  KITH_HOST_DEVICE bool may_gain(T bound, std::uint32_t smallest_inside) const {
    return bound < reduced || (bound == reduced && smallest_inside < number);
  }
};

template <typename T, std::uint32_t kDims>
KITH_HOST_DEVICE T reduced_to_box(const T (&query)[kDims], const T* box) {
  T sum = 0;
  for (std::uint32_t d = 0; d < kDims; ++d) {
    const T gap = core::larger(core::larger(box[d] - query[d], query[d] - box[kDims + d]), T(0));
    sum = core::fused_multiply_add(gap, gap, sum);
  }
  return sum;
}

/// Points of the tree that beat `best`: a point that is in it, or a bound and kNoPoint.
template <typename T, std::uint32_t kDims>
KITH_HOST_DEVICE NearestPoint<T> find_nearest(const SearchTree<T>& tree, const T (&query)[kDims],
                                              NearestPoint<T> best) {
  constexpr std::uint32_t kMostLevels = 32;
  std::uint32_t open[kMostLevels];
  T bounds[kMostLevels];
  std::uint32_t depth = 0;
  const auto first_leaf = static_cast<std::uint32_t>(tree.geometry.leaves() - 1);
  open[depth] = 0;
  bounds[depth++] = reduced_to_box<T, kDims>(query, tree.boxes);
  while (depth > 0) {
    std::uint32_t node = open[--depth];
    if (!best.may_gain(bounds[depth], tree.smallest[node])) continue;
    while (node < first_leaf) {
      const std::uint32_t left = 2 * node + 1;
      const T to_left = reduced_to_box<T, kDims>(query, tree.boxes + std::uint64_t{left} * 2 * kDims);
      const T to_right = reduced_to_box<T, kDims>(query, tree.boxes + std::uint64_t{left + 1} * 2 * kDims);
      const bool goes_left = to_left <= to_right;
      open[depth] = goes_left ? left + 1 : left;
      bounds[depth] = goes_left ? to_right : to_left;
      if (bounds[depth] <= best.reduced) ++depth;
      node = goes_left ? left : left + 1;
      if ((goes_left ? to_left : to_right) > best.reduced) break;
    }
    if (node < first_leaf) continue;
    const SearchLeaf<T> leaf = tree.leaf(node - first_leaf);
    for (std::uint32_t i = 0; i < leaf.count; ++i) {
      T sum = 0;
      for (std::uint32_t d = 0; d < kDims; ++d) {
        const T gap = query[d] - leaf.values[d * leaf.count + i];
        sum = core::fused_multiply_add(gap, gap, sum);
      }
      best.offer(sum, leaf.numbers[i]);
    }
  }
  return best;
}

}  // namespace kith::cuda
