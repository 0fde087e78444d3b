// The walk of a group of neighbouring queries through the tree: a leaf's box against all queries at once, a leaf's
// points against one query at once.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "cpu/kd_tree/leaf_hits.hpp"
#include "cpu/kd_tree/tuning.hpp"

#include <kith/metric.hpp>

#include <cstdint>

namespace kith::cpu {

/// A group of queries and what becomes of their hits.
template <typename T>
struct GroupSearch {
  Metric metric;
  const T* lengths = nullptr;  ///< of periodic axes; null: plain axes
  std::uint32_t count = 0;     ///< queries in the group, 1 to kGroupQueries
  const T* values = nullptr;   ///< [dimension][kGroupQueries]
  T* limits = nullptr;         ///< [kGroupQueries]: the two halves of the limits, kept up to date;
                               ///< unused places hold -1 and 0
  std::uint32_t* limit_indices = nullptr;
  std::uint64_t start_leaf = 0;  ///< where the walk begins
  NodeFilter filter;
  LeafHitFunction<T> on_hit = nullptr;
  void* context = nullptr;
};

/// Visits every leaf that may hold a neighbour of a query of the group, near ones first as far as that is cheap.
template <typename T>
void search_group(const KdTree<T>& tree, const GroupSearch<T>& search);

}  // namespace kith::cpu
