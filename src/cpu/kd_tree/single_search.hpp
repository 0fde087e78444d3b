// The walk of one query by itself: for few queries, and for approximate answers, which must not depend on a group.
//
// The order of the walk is part of the answer when it is approximate, so it is fixed: of two children the one with the
// lower (bound, number) comes first. A budget of up to kMostQueued leaves takes the nodes in the order of (bound,
// number) from a queue with two ends; without a budget, or with a larger one, the walk goes depth first.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "cpu/kd_tree/leaf_hits.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cpu {

/// Nodes that the queue of a budgeted walk holds at most.
inline constexpr std::uint32_t kMostQueued = 256;

/// One query and what becomes of its hits.
template <typename T>
struct SingleSearch {
  Metric metric;
  const T* lengths = nullptr;  ///< of periodic axes; null: plain axes
  const T* query = nullptr;
  Limit<T> limit{};
  T shrink = 1;                  ///< nodes beyond the k-th chain times this are passed over
  std::uint32_t max_leaves = 0;  ///< 0: no budget
  NodeFilter filter;
  LeafHitFunction<T> on_hit = nullptr;  ///< told of query 0
  void* context = nullptr;
};

/// True if everything that could have been a neighbour was looked at. Allocates nothing.
template <typename T>
bool search_single(const KdTree<T>& tree, const SingleSearch<T>& search);

}  // namespace kith::cpu
