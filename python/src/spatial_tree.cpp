// See spatial_tree.hpp.
#include "spatial_tree.hpp"

#include "select_median.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace kith::python {

/// Builds the nodes depth first with a stack: cells in the middle of nothing may lie thousands deep. While it goes on,
/// the points lie coordinate by coordinate, so that boxes and partitions run over numbers side by side; partitions keep
/// the order, so that the points of each node ascend. 24 + 8 dims bytes per point beside the tree.
class TreeBuild {
 public:
  TreeBuild(SpatialTree& tree, PointView points, const TreeRules& rules)
      : tree_(tree),
        rules_(rules),
        dims_(tree.dims_),
        size_(points.rows()),
        columns_(std::make_unique_for_overwrite<double[]>(size_ * dims_)),
        numbers_(std::make_unique_for_overwrite<std::uint32_t[]>(size_)),
        lesser_(std::make_unique_for_overwrite<std::uint32_t[]>(size_)),
        greater_(std::make_unique_for_overwrite<std::uint32_t[]>(size_)),
        room_(std::make_unique_for_overwrite<std::uint32_t[]>(size_)),
        values_(std::make_unique_for_overwrite<double[]>(size_ + kFewValues)) {
    for (std::size_t i = 0; i < size_; ++i) {
      const double* const row = points.row<double>(i);
      for (std::uint32_t d = 0; d < dims_; ++d) columns_[d * size_ + i] = row[d];
    }
    std::iota(numbers_.get(), numbers_.get() + size_, 0u);
  }

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
      split(number, next.cell.empty() ? tree_.box(number) : next.cell.data(), stack);
    }
  }

 private:
  struct Pending {
    std::int64_t parent;
    bool is_greater;
    std::int64_t start;
    std::int64_t end;
    std::vector<double> cell;  // dims lower faces, dims upper ones; empty: the tight box
  };

  /// The values of a node's points in one dimension.
  std::span<double> column(const TreeNode& node, std::uint32_t d) {
    return {columns_.get() + d * size_ + node.start, static_cast<std::size_t>(node.size())};
  }

  std::int64_t add_node(const Pending& pending) {
    const auto number = static_cast<std::int64_t>(tree_.nodes_.size());
    const TreeNode node{.start = pending.start, .end = pending.end};
    tree_.nodes_.push_back(node);
    const std::size_t box = tree_.boxes_.size();
    tree_.boxes_.resize(box + 2 * dims_);
    for (std::uint32_t d = 0; d < dims_; ++d) {
      std::tie(tree_.boxes_[box + d], tree_.boxes_[box + dims_ + d]) = extremes(column(node, d));
    }
    return number;
  }

  /// The least and the largest, without a branch: in a small node every second value is a new extreme.
  static std::pair<double, double> extremes(std::span<const double> values) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr std::size_t kTogether = 4;
    const auto less = [](auto a, auto b) { return a < b ? a : b; };
    const auto more = [](auto a, auto b) { return a > b ? a : b; };
    double low = kInfinity, high = -kInfinity;
    if (values.size() < kTogether) {
      for (const double value : values) {
        low = less(value, low);
        high = more(value, high);
      }
      return {low, high};
    }
    const double* const last = values.data() + values.size() - kTogether;  // some of them twice
    Pair lows[2] = {load_pair(last), load_pair(last + 2)}, highs[2] = {lows[0], lows[1]};
    for (const double* at = values.data(); at < last; at += kTogether) {
      for (std::size_t v = 0; v < 2; ++v) {
        const Pair pair = load_pair(at + 2 * v);
        lows[v] = less(pair, lows[v]);
        highs[v] = more(pair, highs[v]);
      }
    }
    const Pair lowest = less(lows[0], lows[1]), highest = more(highs[0], highs[1]);
    return {less(lowest[0], lowest[1]), more(highest[0], highest[1])};
  }

  /// The widest side of the cell on which the points differ; dims: there is none.
  static std::uint32_t widest(const double* cell, const double* tight, std::uint32_t dims) {
    std::uint32_t best = dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      if (!(tight[dims + d] > tight[d])) continue;
      if (best == dims || cell[dims + d] - cell[d] > cell[dims + best] - cell[best]) best = d;
    }
    return best;
  }

  void split(std::int64_t number, const double* cell, std::vector<Pending>& stack) {
    TreeNode& node = tree_.nodes_[static_cast<std::size_t>(number)];
    if (node.size() <= rules_.leaf_size) return finish_leaf(node);
    const double* tight = tree_.box(number);
    const std::uint32_t d = widest(cell, tight, dims_);
    if (d == dims_) return finish_leaf(node);  // all points are equal
    node.split_dim = d;
    node.split = split_value(column(node, d), (cell[d] + cell[dims_ + d]) / 2, tight[d], tight[dims_ + d]);
    const std::int64_t middle = node.start + move_lesser_to_front(node);
    Pending lesser{number, false, node.start, middle, {}};
    Pending greater{number, true, middle, node.end, {}};
    if (!rules_.compact) {
      lesser.cell.assign(cell, cell + 2 * dims_);
      greater.cell = lesser.cell;
      lesser.cell[dims_ + d] = greater.cell[d] = node.split;
    }
    stack.push_back(std::move(greater));
    stack.push_back(std::move(lesser));
  }

  /// A value with points on both sides of it: the median or the middle of the cell if it is one, else the nearest:
  /// the highest value, or just above the lowest, as SciPy has it.
  double split_value(std::span<const double> values, double middle, double lowest, double highest) {
    double at = middle;
    if (rules_.balanced) {
      std::copy(values.begin(), values.end(), values_.get());
      at = value_of_rank({values_.get(), values.size()}, values.size() / 2);
    }
    if (at > highest) return highest;
    if (at > lowest) return at;
    return std::nextafter(lowest, highest);
  }

  /// Moves the points of the lesser side before the others, each side in the order it had; returns how many they are.
  std::int64_t move_lesser_to_front(const TreeNode& node) {
    const std::span<const double> keys = column(node, static_cast<std::uint32_t>(node.split_dim));
    const auto size = static_cast<std::uint32_t>(keys.size());
    std::uint32_t lesser = 0, greater = 0;
    for (std::uint32_t i = 0; i < size; ++i) {  // each place is written to both lists, and stays in one
      const bool is_lesser = keys[i] < node.split;
      lesser_[lesser] = greater_[greater] = i;
      lesser += is_lesser ? 1 : 0;
      greater += is_lesser ? 0 : 1;
    }
    const auto take = [&](auto* items, auto* room) {
      for (std::uint32_t i = 0; i < greater; ++i) room[i] = items[greater_[i]];
      for (std::uint32_t i = 0; i < lesser; ++i) items[i] = items[lesser_[i]];  // ascending: from behind or in place
      std::copy_n(room, greater, items + lesser);
    };
    for (std::uint32_t d = 0; d < dims_; ++d) take(column(node, d).data(), values_.get());
    take(numbers_.get() + node.start, room_.get());
    return lesser;
  }

  void finish_leaf(const TreeNode& node) {
    for (std::int64_t at = node.start; at < node.end; ++at) {
      tree_.indices_[static_cast<std::size_t>(at)] = numbers_[static_cast<std::size_t>(at)];
      double* const row = tree_.rows_.data() + at * dims_;
      for (std::uint32_t d = 0; d < dims_; ++d) row[d] = columns_[d * size_ + static_cast<std::size_t>(at)];
    }
  }

  SpatialTree& tree_;
  TreeRules rules_;
  std::uint32_t dims_;
  std::size_t size_;
  std::unique_ptr<double[]> columns_;  // all points' values of dimension 0, then of 1, …
  std::unique_ptr<std::uint32_t[]> numbers_;
  std::unique_ptr<std::uint32_t[]> lesser_;  // places of a node's points, counted from its first
  std::unique_ptr<std::uint32_t[]> greater_;
  std::unique_ptr<std::uint32_t[]> room_;
  std::unique_ptr<double[]> values_;
};

SpatialTree::SpatialTree(PointView points, const TreeRules& rules)
    : dims_(points.dims()), indices_(points.rows()), rows_(points.rows() * dims_) {
  TreeBuild(*this, points, rules).run();
}

}  // namespace kith::python
