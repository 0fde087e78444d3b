// See spatial_tree.hpp.
#include "spatial_tree.hpp"

#include "select_median.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace kith::python {

/// Builds the nodes depth first with a stack: cells in the middle of nothing may lie thousands deep. Rows move together
/// with their numbers, so that each pass over a node reads memory in order; 16 + 8 + 8 dims bytes per point beside the
/// tree.
class TreeBuild {
 public:
  TreeBuild(SpatialTree& tree, const TreeRules& rules)
      : tree_(tree),
        rules_(rules),
        dims_(tree.dims_),
        keys_(tree.indices_.size()),
        moved_indices_(tree.indices_.size()),
        moved_rows_(tree.rows_.size()) {}

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

  /// What a node's points are ordered by, and where each of them is, counted from the node's first.
  struct Key {
    double value;
    std::uint32_t place;
  };

  std::int64_t add_node(const Pending& pending) {
    const auto number = static_cast<std::int64_t>(tree_.nodes_.size());
    tree_.nodes_.push_back({.start = pending.start, .end = pending.end});
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    tree_.boxes_.insert(tree_.boxes_.end(), dims_, kInfinity);
    tree_.boxes_.insert(tree_.boxes_.end(), dims_, -kInfinity);
    double* lower = tree_.boxes_.data() + number * 2 * dims_;
    double* upper = lower + dims_;
    const double* const end = tree_.row(pending.end);
    for (const double* row = tree_.row(pending.start); row != end; row += dims_) {
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
    const std::span<Key> keys = keys_of(node, [&](std::int64_t at) { return tree_.row(at)[d]; });
    node.split = split_value(keys, (cell[d] + cell[dims_ + d]) / 2, tight[d], tight[dims_ + d]);
    const double at = node.split;
    const auto middle = static_cast<std::int64_t>(move_to_front(keys, [at](const Key& key) { return key.value < at; }));
    move_points(node, keys);
    Pending lesser{number, false, node.start, node.start + middle, {}};
    Pending greater{number, true, node.start + middle, node.end, {}};
    if (!rules_.compact) {
      lesser.cell = greater.cell = cell;
      lesser.cell[dims_ + d] = greater.cell[d] = at;
    }
    stack.push_back(std::move(greater));
    stack.push_back(std::move(lesser));
  }

  /// A key for each point of a node, in the order of the points; `value_at` takes a place of the tree.
  template <typename ValueAt>
  std::span<Key> keys_of(const TreeNode& node, ValueAt&& value_at) {
    const auto size = static_cast<std::size_t>(node.size());
    for (std::size_t i = 0; i < size; ++i) {
      keys_[i] = {value_at(node.start + static_cast<std::int64_t>(i)), static_cast<std::uint32_t>(i)};
    }
    return {keys_.data(), size};
  }

  /// A value with points on both sides of it: the median or the middle of the cell if it is one, else the nearest:
  /// the highest value, or just above the lowest, as SciPy has it.
  double split_value(std::span<Key> keys, double middle, double lowest, double highest) {
    double at = middle;
    if (rules_.balanced) at = value_of_rank(keys, keys.size() / 2);
    if (at > highest) return highest;
    if (at > lowest) return at;
    return std::nextafter(lowest, highest);
  }

  /// Puts the points of a node into the order of the keys.
  void move_points(const TreeNode& node, std::span<const Key> keys) {
    std::int64_t* const indices = tree_.indices_.data() + node.start;
    double* const rows = tree_.rows_.data() + node.start * dims_;
    double* moved = moved_rows_.data();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      moved_indices_[i] = indices[keys[i].place];
      const double* const row = rows + std::size_t{keys[i].place} * dims_;
      for (std::uint32_t d = 0; d < dims_; ++d) *moved++ = row[d];
    }
    std::copy_n(moved_indices_.data(), keys.size(), indices);
    std::copy_n(moved_rows_.data(), keys.size() * dims_, rows);
  }

  /// The points of a leaf ascend. In short ones each counts those below it, which has no branch on the numbers.
  void finish_leaf(const TreeNode& node) {
    constexpr std::int64_t kShort = 32;
    const std::int64_t* const indices = tree_.indices_.data() + node.start;
    const std::span<Key> keys = keys_of(
        node, [&](std::int64_t at) { return static_cast<double>(tree_.indices_[static_cast<std::size_t>(at)]); });
    if (node.size() > kShort) {
      std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return a.value < b.value; });
    } else {
      for (std::uint32_t i = 0; i < keys.size(); ++i) {
        std::size_t below = 0;
        for (std::size_t j = 0; j < keys.size(); ++j) below += indices[j] < indices[i] ? 1 : 0;
        keys[below].place = i;
      }
    }
    move_points(node, keys);
  }

  SpatialTree& tree_;
  TreeRules rules_;
  std::uint32_t dims_;
  std::vector<Key> keys_;
  std::vector<std::int64_t> moved_indices_;
  std::vector<double> moved_rows_;
};

SpatialTree::SpatialTree(PointView points, const TreeRules& rules) : dims_(points.dims()), indices_(points.rows()) {
  std::iota(indices_.begin(), indices_.end(), std::int64_t{0});
  rows_.reserve(points.rows() * dims_);
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    const double* row = points.row<double>(i);
    rows_.insert(rows_.end(), row, row + dims_);
  }
  TreeBuild(*this, rules).run();
}

}  // namespace kith::python
