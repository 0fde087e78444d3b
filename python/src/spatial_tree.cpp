// See spatial_tree.hpp.
#include "spatial_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace kith::python {

/// Builds the nodes depth first with a stack: cells in the middle of nothing may lie thousands deep.
class TreeBuild {
 public:
  TreeBuild(SpatialTree& tree, PointView points, const TreeRules& rules)
      : tree_(tree), points_(points), rules_(rules), dims_(tree.dims_) {}

  void run() {
    std::vector<Pending> stack{{-1, false, 0, tree_.size(), {}}};
    while (!stack.empty()) {
      const Pending next = std::move(stack.back());
      stack.pop_back();
      const std::int64_t number = add_node(next);
      if (next.parent >= 0) {
        TreeNode& parent = tree_.nodes_[static_cast<std::size_t>(next.parent)];
        (next.is_greater ? parent.greater : parent.lesser) = number;
      }
      split(number, next.cell.empty() ? Box(tree_.box(number), tree_.box(number) + 2 * dims_) : next.cell, stack);
    }
  }

 private:
  using Box = std::vector<double>;  // dims lower faces, dims upper ones

  struct Pending {
    std::int64_t parent;
    bool is_greater;
    std::int64_t start;
    std::int64_t end;
    Box cell;  // empty: the tight box
  };

  double value(std::int64_t index, std::uint32_t d) const {
    return points_.row<double>(static_cast<std::uint64_t>(index))[d];
  }
  auto place(std::int64_t at) { return tree_.indices_.begin() + at; }

  std::int64_t add_node(const Pending& pending) {
    const auto number = static_cast<std::int64_t>(tree_.nodes_.size());
    tree_.nodes_.push_back({.start = pending.start, .end = pending.end});
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    tree_.boxes_.insert(tree_.boxes_.end(), dims_, kInfinity);
    tree_.boxes_.insert(tree_.boxes_.end(), dims_, -kInfinity);
    double* lower = tree_.boxes_.data() + number * 2 * dims_;
    double* upper = lower + dims_;
    for (auto index = place(pending.start); index != place(pending.end); ++index) {
      const double* row = points_.row<double>(static_cast<std::uint64_t>(*index));
      for (std::uint32_t d = 0; d < dims_; ++d) {
        lower[d] = std::min(lower[d], row[d]);
        upper[d] = std::max(upper[d], row[d]);
      }
    }
    return number;
  }

  /// The widest side of the cell on which the points differ; dims: there is none.
  static std::uint32_t widest(const Box& cell, const double* tight, std::uint32_t dims) {
    std::uint32_t best = dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (!(tight[dims + d] > tight[d])) continue;
      if (best == dims || cell[dims + d] - cell[d] > cell[dims + best] - cell[best]) best = d;
    }
    return best;
  }

  void split(std::int64_t number, const Box& cell, std::vector<Pending>& stack) {
    TreeNode& node = tree_.nodes_[static_cast<std::size_t>(number)];
    if (node.size() <= rules_.leaf_size) return finish_leaf(node);
    const double* tight = tree_.box(number);
    const std::uint32_t d = widest(cell, tight, dims_);
    if (d == dims_) return finish_leaf(node);  // all points are equal
    node.split_dim = d;
    node.split = split_value(node, d, (cell[d] + cell[dims_ + d]) / 2, tight[d], tight[dims_ + d]);
    const double at = node.split;
    const std::int64_t middle =
        std::partition(place(node.start), place(node.end), [&](std::int64_t i) { return value(i, d) < at; }) - place(0);
    Pending lesser{number, false, node.start, middle, {}};
    Pending greater{number, true, middle, node.end, {}};
    if (!rules_.compact) {
      lesser.cell = greater.cell = cell;
      lesser.cell[dims_ + d] = greater.cell[d] = at;
    }
    stack.push_back(std::move(greater));
    stack.push_back(std::move(lesser));
  }

  /// A value with points on both sides of it: the median or the middle of the cell if it is one, else the nearest:
  /// the highest value, or just above the lowest, as SciPy has it.
  double split_value(const TreeNode& node, std::uint32_t d, double middle, double lowest, double highest) {
    double at = middle;
    if (rules_.balanced) {
      const auto median = place(node.start + node.size() / 2);
      std::nth_element(place(node.start), median, place(node.end), [&](std::int64_t a, std::int64_t b) {
        return value(a, d) != value(b, d) ? value(a, d) < value(b, d) : a < b;
      });
      at = value(*median, d);
    }
    if (at > highest) return highest;
    if (at > lowest) return at;
    return std::nextafter(lowest, highest);
  }

  void finish_leaf(const TreeNode& node) { std::sort(place(node.start), place(node.end)); }

  SpatialTree& tree_;
  PointView points_;
  TreeRules rules_;
  std::uint32_t dims_;
};

SpatialTree::SpatialTree(PointView points, const TreeRules& rules) : dims_(points.dims()), indices_(points.rows()) {
  std::iota(indices_.begin(), indices_.end(), std::int64_t{0});
  TreeBuild(*this, points, rules).run();
  rows_.reserve(points.rows() * dims_);
  for (const std::int64_t index : indices_) {
    const double* row = points.row<double>(static_cast<std::uint64_t>(index));
    rows_.insert(rows_.end(), row, row + dims_);
  }
}

}  // namespace kith::python
