// The walk of one query by itself: for few queries, and for approximate answers, which must not depend on a group.
//
// The order of the walk is part of the answer when it is approximate, so it is fixed: engine/kd_tree/walk_order.hpp.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "cpu/kd_tree/leaf_hits.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cpu {

/// One query and what becomes of its hits.
template <typename T>
struct SingleSearch {
  Metric metric;
  const T* lengths = nullptr;  ///< of periodic axes; null: plain axes
  const T* query = nullptr;
  std::uint32_t place = 0;  ///< what `on_hit` calls the query
  core::Candidate<T> limit{};
  T shrink = 1;                  ///< nodes beyond the k-th reduced distance times this are passed over
  std::uint32_t max_leaves = 0;  ///< 0: no budget
  NodeFilter filter;
  LeafHitFunction<T> on_hit = nullptr;
  void* context = nullptr;
};

/// True if everything that could have been a neighbour was looked at. Allocates nothing.
template <typename T>
bool search_single(const KdTree<T>& tree, const SingleSearch<T>& search);

}  // namespace kith::cpu
