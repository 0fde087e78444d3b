// See spatial_tree.hpp.
#include "spatial_tree.hpp"

#include "row_extremes.hpp"
#include "select_median.hpp"
#include "sort_values.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace kith::python {

/// What all threads share: the points, which stay where they are, and their numbers, which move. A node has the places
/// [start, end) of each array. 24 bytes per point beside the tree.
struct TreePoints {
  TreePoints(PointView points, SpatialTree& into)
      : tree(into),
        dims(points.dims()),
        size(points.rows()),
        rows(points.row<double>(0)),
        stride(points.row_stride()),
        numbers(std::make_unique_for_overwrite<std::uint32_t[]>(size)),
        moved(std::make_unique_for_overwrite<std::uint32_t[]>(size)),
        keys(std::make_unique_for_overwrite<double[]>(size)),
        values(std::make_unique_for_overwrite<double[]>(size)) {
    std::iota(numbers.get(), numbers.get() + size, 0u);
    if (dims > 1) return;
    sort_numbers({numbers.get(), size}, [this](std::uint32_t number) { return value(number, 0); });
    for (std::size_t i = 0; i < size; ++i) keys[i] = value(numbers[i], 0);
  }

  /// In one dimension: each point to the leaf that `moved` names the start of, in the order of their numbers.
  void fill_leaves() {
    std::uint32_t* const next = numbers.get();
    std::iota(next, next + size, 0u);
    for (std::uint32_t number = 0; number < size; ++number) {
      const std::uint32_t at = next[moved[number]]++;
      tree.indices_[at] = number;
      tree.rows_[at] = value(number, 0);
    }
  }

  double value(std::uint32_t number, std::uint32_t d) const { return rows[number * stride + d]; }

  SpatialTree& tree;
  std::uint32_t dims;
  std::size_t size;
  const double* rows;
  std::int64_t stride;
  std::unique_ptr<std::uint32_t[]> numbers;
  std::unique_ptr<std::uint32_t[]> moved;
  std::unique_ptr<double[]> keys;    // the values in the dimension in which a node is split
  std::unique_ptr<double[]> values;  // the same, reordered to find the median
};

/// Builds nodes depth first with a stack: cells in the middle of nothing may lie thousands deep. Partitions keep the
/// order, so that the numbers of each node's points ascend; in one dimension the points are sorted by value instead,
/// once, and nothing moves.
class TreeBuild {
 public:
  TreeBuild(TreePoints& points, const TreeRules& rules, std::size_t threads)
      : points_(points), rules_(rules), dims_(points.dims), threads_(threads) {}

  /// Adds the nodes of all points.
  void run_all() {
    const auto size = static_cast<std::int64_t>(points_.size);
    std::vector<double> cell;
    if (!rules_.compact) {
      cell.resize(2 * dims_);
      find_box({.end = size}, cell.data());
    }
    run(0, size, cell);
    if (!rules_.compact) join_boxes();
  }

 private:
  friend class SpatialTree;

  struct Pending {
    std::int64_t parent;
    bool is_greater;
    std::int64_t start;
    std::int64_t end;
  };

  /// A node of fewer points is not worth a thread.
  static constexpr std::int64_t kPointsPerThread = 4096;

  /// Adds the nodes of the points [start, end). `cell` is that of the first if cells are not shrunk.
  void run(std::int64_t start, std::int64_t end, std::span<const double> cell) {
    push({-1, false, start, end}, cell);
    while (!pending_.empty()) {
      const Pending next = pop();
      const std::int64_t number = add_node(next.start, next.end);
      if (next.parent >= 0) link(next.parent, next.is_greater, number);
      if (choose_split(number)) add_halves(number);
    }
  }

  /// Makes the boxes of inner nodes from those of their halves: where cells are not shrunk, only leaves have one yet.
  void join_boxes() {
    for (std::size_t number = nodes_.size(); number-- > 0;) {
      if (nodes_[number].is_leaf()) continue;
      const double *const a = box(nodes_[number].lesser), *const b = box(nodes_[number].greater);
      double* const joined = box(static_cast<std::int64_t>(number));
      for (std::uint32_t d = 0; d < dims_; ++d) {
        joined[d] = std::min(a[d], b[d]);
        joined[dims_ + d] = std::max(a[dims_ + d], b[dims_ + d]);
      }
    }
  }

  void push(const Pending& next, std::span<const double> cell) {
    pending_.push_back(next);
    cells_.insert(cells_.end(), cell.begin(), cell.end());
  }

  Pending pop() {
    const Pending next = pending_.back();
    pending_.pop_back();
    if (!rules_.compact) {
      cell_.assign(cells_.end() - 2 * dims_, cells_.end());
      cells_.resize(cells_.size() - 2 * dims_);
    }
    return next;
  }

  TreeNode& node(std::int64_t number) { return nodes_[static_cast<std::size_t>(number)]; }
  double* box(std::int64_t number) { return boxes_.data() + number * 2 * dims_; }

  template <typename T>
  std::span<T> part(const std::unique_ptr<T[]>& items, const TreeNode& of) {
    return {items.get() + of.start, static_cast<std::size_t>(of.size())};
  }

  std::int64_t add_node(std::int64_t start, std::int64_t end) {
    const auto number = static_cast<std::int64_t>(nodes_.size());
    nodes_.push_back({.start = start, .end = end});
    boxes_.resize(boxes_.size() + 2 * dims_);
    if (rules_.compact) find_box(nodes_.back(), box(number));
    return number;
  }

  void link(std::int64_t parent, bool is_greater, std::int64_t number) {
    (is_greater ? node(parent).greater : node(parent).lesser) = number;
  }

  /// The tight box of a node: dims lower faces, then dims upper ones.
  void find_box(const TreeNode& of, double* low) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double* const high = low + dims_;
    if (of.size() == 0) {
      std::fill(low, high, kInfinity);
      std::fill(high, high + dims_, -kInfinity);
    } else if (dims_ == 1) {
      const std::span<const double> keys = part(points_.keys, of);
      *low = keys.front();
      *high = keys.back();
    } else {
      box_of_rows(points_.rows, points_.stride, part(points_.numbers, of), dims_, low, high);
    }
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

  /// Fills `keys` with the values of a node's points in one dimension.
  std::span<const double> take_keys(const TreeNode& of, std::uint32_t d) {
    const std::span<double> keys = part(points_.keys, of);
    if (dims_ == 1) return keys;
    const std::span<const std::uint32_t> numbers = part(points_.numbers, of);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = points_.value(numbers[i], d);
    return keys;
  }

  /// Decides where a node is split, or finishes it as a leaf.
  bool choose_split(std::int64_t number) {
    TreeNode& of = node(number);
    if (of.size() <= rules_.leaf_size) return finish_leaf(number);
    double* const tight = box(number);
    const double* const cell = rules_.compact ? tight : cell_.data();
    std::uint32_t d = widest(cell, cell, dims_);
    if (d == dims_) return finish_leaf(number);
    std::span<const double> keys = take_keys(of, d);
    if (!rules_.compact) {
      std::tie(tight[d], tight[dims_ + d]) = dims_ == 1 ? std::pair(keys.front(), keys.back()) : extremes(keys);
      if (!(tight[d] < tight[dims_ + d])) {  // the cell is wide here, its points are not
        find_box(of, tight);
        d = widest(cell, tight, dims_);
        if (d == dims_) return finish_leaf(number);
        keys = take_keys(of, d);
      }
    }
    of.split_dim = d;
    of.split = split_value(of, (cell[d] + cell[dims_ + d]) / 2, tight[d], tight[dims_ + d]) + 0.0;  // no -0
    return true;
  }

  /// A value with points on both sides of it: the median or the middle of the cell if it is one, else the nearest:
  /// the highest value, or just above the lowest, as SciPy has it.
  double split_value(const TreeNode& of, double middle, double lowest, double highest) {
    const std::span<const double> keys = part(points_.keys, of);
    double at = middle;
    if (rules_.balanced && dims_ == 1) {
      at = keys[keys.size() / 2];
    } else if (rules_.balanced) {
      const std::span<double> values = part(points_.values, of);
      std::copy(keys.begin(), keys.end(), values.begin());
      at = value_of_rank(values, values.size() / 2);
    }
    if (at > highest) return highest;
    if (at > lowest) return at;
    return std::nextafter(lowest, highest);
  }

  /// Moves the numbers of the lesser side before the others, each side in the order it had; returns how many they are.
  std::size_t move_lesser_to_front(const TreeNode& of) {
    const std::span<const double> keys = part(points_.keys, of);
    if (dims_ == 1) {
      return static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), of.split) - keys.begin());
    }
    const std::span<std::uint32_t> numbers = part(points_.numbers, of);
    const std::span<std::uint32_t> greater = part(points_.moved, of);
    std::size_t lesser_count = 0, greater_count = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {  // each number is written to both sides, and stays in one
      const bool is_lesser = keys[i] < of.split;
      numbers[lesser_count] = greater[greater_count] = numbers[i];
      lesser_count += is_lesser ? 1 : 0;
      greater_count += is_lesser ? 0 : 1;
    }
    std::copy_n(greater.begin(), greater_count, numbers.begin() + static_cast<std::ptrdiff_t>(lesser_count));
    return lesser_count;
  }

  void add_halves(std::int64_t number) {
    const TreeNode of = node(number);
    const std::int64_t middle = of.start + static_cast<std::int64_t>(move_lesser_to_front(of));
    if (!rules_.compact) {
      const auto face = static_cast<std::size_t>(of.split_dim);
      lesser_cell_ = cell_;
      lesser_cell_[dims_ + face] = cell_[face] = of.split;
    }
    if (threads_ > 1 && of.size() >= 2 * kPointsPerThread) {
      TreeBuild lesser(points_, rules_, threads_ - threads_ / 2), greater(points_, rules_, threads_ / 2);
      auto other = std::async(std::launch::async, [&] { greater.run(middle, of.end, cell_); });
      lesser.run(of.start, middle, lesser_cell_);
      other.get();
      append(lesser, number, false);
      append(greater, number, true);
      return;
    }
    push({number, true, middle, of.end}, cell_);
    push({number, false, of.start, middle}, lesser_cell_);
  }

  /// Adds the nodes of another build below one of this.
  void append(const TreeBuild& other, std::int64_t parent, bool is_greater) {
    const auto first = static_cast<std::int64_t>(nodes_.size());
    link(parent, is_greater, first);
    for (TreeNode added : other.nodes_) {
      if (!added.is_leaf()) {
        added.lesser += first;
        added.greater += first;
      }
      nodes_.push_back(added);
    }
    boxes_.insert(boxes_.end(), other.boxes_.begin(), other.boxes_.end());
  }

  bool finish_leaf(std::int64_t number) {
    const TreeNode& leaf = node(number);
    if (!rules_.compact) find_box(leaf, box(number));
    const std::span<const std::uint32_t> numbers = part(points_.numbers, leaf);
    if (dims_ == 1) {  // see fill_leaves
      for (const std::uint32_t chosen : numbers) points_.moved[chosen] = static_cast<std::uint32_t>(leaf.start);
      return false;
    }
    std::copy(numbers.begin(), numbers.end(), points_.tree.indices_.begin() + leaf.start);
    double* row = points_.tree.rows_.data() + leaf.start * dims_;
    for (const std::uint32_t chosen : numbers) {
      for (std::uint32_t d = 0; d < dims_; ++d) *row++ = points_.value(chosen, d);
    }
    return false;
  }

  TreePoints& points_;
  TreeRules rules_;
  std::uint32_t dims_;
  std::size_t threads_;
  std::vector<TreeNode> nodes_;
  std::vector<double> boxes_;
  std::vector<Pending> pending_;
  std::vector<double> cells_;  // of the pending nodes; none if cells are shrunk
  std::vector<double> cell_;   // of the node at hand: dims lower faces, then dims upper ones
  std::vector<double> lesser_cell_;
};

SpatialTree::SpatialTree(PointView points, const TreeRules& rules, std::size_t threads)
    : dims_(points.dims()), indices_(points.rows()), rows_(points.rows() * dims_) {
  TreePoints shared(points, *this);
  TreeBuild build(shared, rules, dims_ == 1 ? 1 : threads);
  build.run_all();
  if (dims_ == 1) shared.fill_leaves();
  nodes_ = std::move(build.nodes_);
  boxes_ = std::move(build.boxes_);
}

}  // namespace kith::python
