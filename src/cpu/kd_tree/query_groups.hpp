// Puts queries that lie close together into groups, in the order of the leaves, so that a walk serves several and finds
// the last walk's nodes still in the cache.
#pragma once

#include "cpu/kd_tree/group_search.hpp"
#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/searcher.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::cpu {

/// The queries of one group, ready for the walk.
template <typename T>
struct QueryGroup {
  std::uint32_t count = 0;
  std::uint32_t near = 0;  ///< the first ones walk together; the others lie far from their leaf and walk alone
  std::uint64_t start_leaf = 0;
  std::uint64_t queries[kGroupQueries] = {};  ///< which query of the batch each place is
  std::vector<T> values;                      ///< [dimension][kGroupQueries]; unused places hold any numbers
};

/// All queries of a batch in groups.
template <typename T>
class QueryGroups {
 public:
  /// Self-searches take leaves or pairs of them as they are; other queries are sorted by leaf. O(queries + leaves).
  QueryGroups(const KdTree<T>& tree, const engine::QueryBatch<T>& batch, int threads);

  /// What sorting so many queries takes at most; self-searches take nothing.
  static std::uint64_t bytes_of(const core::KdGeometry& geometry, std::uint64_t queries) {
    const std::uint64_t leaves = geometry.leaves();
    const std::uint64_t groups = std::min(queries, queries / kGroupQueries + leaves / 2 + 1) + 1;
    const std::uint64_t starts = 3 * groups * sizeof(std::uint64_t);  // while the array grows there are two
    return queries * (sizeof(std::uint64_t) + sizeof(std::uint32_t)) +
           std::max(starts, (leaves + 1) * sizeof(std::uint64_t));
  }

  std::uint64_t size() const {
    return batch_.is_self() ? tree_.geometry.leaves() / leaves_ * chunks_ : starts_.size() - 1;
  }
  /// Fills `group`; a self-search may have empty ones.
  void load(std::uint64_t g, QueryGroup<T>& group) const;

 private:
  void find_leaves(std::uint64_t first, std::uint64_t end);
  void sort_by_leaf(int threads);

  const KdTree<T>& tree_;
  const engine::QueryBatch<T>& batch_;
  std::uint32_t leaves_, chunks_;       ///< of a self-search: leaves in a group, groups of a leaf; one of them is 1
  std::vector<std::uint64_t> order_;    ///< queries by leaf
  std::vector<std::uint64_t> starts_;   ///< of the groups in `order_`, and the end
  std::vector<std::uint32_t> leaf_of_;  ///< per query
};

}  // namespace kith::cpu
