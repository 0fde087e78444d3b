// A k-d tree with nodes that can be looked at, split by the rules that users of scipy.spatial know: points below the
// split value to the lesser side, the others to the greater. Searches do not use it; counts of pairs do, and people.
//
// About 56 + 16 dims bytes per node, 8 + 8 dims bytes per point; while it is built 24 bytes more per point, in one
// dimension 56.
#pragma once

#include <kith/point_view.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::python {

struct TreeNode {
  std::int64_t split_dim = -1;  ///< -1: a leaf
  double split = 0;
  std::int64_t start = 0;  ///< its points are [start, end) of `SpatialTree::indices`
  std::int64_t end = 0;
  std::int64_t lesser = -1;
  std::int64_t greater = -1;

  bool is_leaf() const { return split_dim < 0; }
  std::int64_t size() const { return end - start; }
};

struct TreeRules {
  std::int64_t leaf_size = 10;
  bool balanced = true;  ///< split at the median, else in the middle of the cell
  bool compact = true;   ///< cells are shrunk to their points before they are split
};

class SpatialTree {
 public:
  /// Copies the points (f64, finite). Nodes are numbered parent, lesser side, greater side; the points of a leaf
  /// ascend.
  SpatialTree(PointView points, const TreeRules& rules, std::size_t threads);

  std::uint32_t dims() const { return dims_; }
  std::int64_t size() const { return static_cast<std::int64_t>(indices_.size()); }
  const std::vector<TreeNode>& nodes() const { return nodes_; }
  const std::vector<std::int64_t>& indices() const { return indices_; }
  /// The point at a place of `indices`.
  const double* row(std::int64_t place) const { return rows_.data() + place * dims_; }
  /// The tight box of a node with points: dims lower faces, then dims upper ones.
  const double* box(std::int64_t node) const { return boxes_.data() + node * 2 * dims_; }

 private:
  friend class TreeBuild;
  friend struct TreePoints;

  std::uint32_t dims_;
  std::vector<TreeNode> nodes_;
  std::vector<double> boxes_;
  std::vector<std::int64_t> indices_;
  std::vector<double> rows_;
};

}  // namespace kith::python
