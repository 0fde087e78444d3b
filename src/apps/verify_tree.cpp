// The part of kith verify that checks exported trees. A table is first turned into the order of its nodes: the ranges
// of a balanced tree are known, so the walk from the root (table_walk.hpp) follows them. Then both layouts are checked
// alike.
//
// All threads check in parallel, in one pass over the points. Only if a check fails, it is repeated range by range, to
// report the first violation.
#include <kith/apps/verify_tree.hpp>

#include "apps/equal_rows.hpp"
#include "apps/table_walk.hpp"
#include "apps/tree_quick_check.hpp"
#include "apps/tree_ranges.hpp"
#include "apps/usable_rows.hpp"
#include "core/dispatch.hpp"
#include "runtime/memory_limit.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/apps/tree_export_on_device.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>
#include <new>
#include <span>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

void check_facts(const TreeFacts& facts, PointView points) {
  require_host_points(points, "verify a tree");
  if (facts.rows != points.rows()) {
    throw UsageError(fmt::format("the tree is about {} points, the data has {}; give the points that it was made from",
                                 facts.rows, points.rows()));
  }
  if (points.empty()) return;  // no rows tell neither dims nor type
  if (facts.dims != points.dims() || facts.dtype != points.dtype()) {
    throw UsageError(
        fmt::format("the tree is about {} points of {} dims, the data is {} with {}; give the points that "
                    "it was made from, read as they were",
                    name_of(facts.dtype), facts.dims, name_of(points.dtype()), points.dims()));
  }
}

/// Whether `rows` are all usable ones, each once; with `first_equal`, which may be empty, all that are the first of
/// equal ones.
bool are_all_once(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> usable,
                  std::span<const std::uint32_t> first_equal, std::uint64_t count, int threads) {
  enum : std::uint8_t { kNone, kWanted, kSeen };
  std::vector<std::uint8_t> marks(count, kNone);
  std::uint64_t wanted = 0;
  for (const std::uint32_t row : usable) {
    if (!first_equal.empty() && first_equal[row] != row) continue;
    marks[row] = kWanted;
    ++wanted;
  }
  return rows.size() == wanted && all_of(rows.size(), threads, [&](std::uint64_t i) {
           return rows[i] < count &&
                  std::atomic_ref(marks[rows[i]]).exchange(kSeen, std::memory_order_relaxed) == kWanted;
         });
}

/// Every usable point once and no other; with `unique` only the first of equal ones. `name(i)` names the place of the
/// i-th entry. Empty if all is right.
template <typename Name>
std::string check_points(std::span<const std::uint32_t> rows, const TreeFacts& facts, PointView points,
                         const VerifyTreeOptions& options, Name&& name) {
  const std::vector<std::uint32_t> usable = usable_rows(points, {.skip = true, .threads = options.threads});
  std::vector<std::uint32_t> first_equal;
  if (facts.unique) first_equal = first_equal_rows(points, usable, {{}, options.threads, &options.progress});
  if (are_all_once(rows, usable, first_equal, points.rows(), options.threads)) return "";

  std::vector<bool> is_usable(points.rows(), false);
  for (const std::uint32_t row : usable) is_usable[row] = true;

  constexpr std::uint32_t kNowhere = 0xffffffff;
  std::vector<std::uint32_t> place(points.rows(), kNowhere);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint32_t row = rows[i];
    if (row >= points.rows()) {
      return fmt::format("{}: there is no point {}, the data has {}", name(i), row, points.rows());
    }
    if (place[row] != kNowhere) return fmt::format("{}: point {} is also at {}", name(i), row, name(place[row]));
    if (!is_usable[row]) return fmt::format("{}: point {} holds NaN or infinity", name(i), row);
    if (facts.unique && first_equal[row] != row) {
      return fmt::format("{}: point {} equals point {}, and duplicates were to be removed", name(i), row,
                         first_equal[row]);
    }
    place[row] = static_cast<std::uint32_t>(i);
  }
  for (const std::uint32_t row : usable) {
    if (place[row] == kNowhere && (!facts.unique || first_equal[row] == row)) {
      return fmt::format("point {} is nowhere in the tree", row);
    }
  }
  return "";
}

/// The first range whose split dimension or sides are wrong, in a tree that holds the right points.
template <typename T>
class OrderCheck {
 public:
  OrderCheck(const ClaimedTree& tree, PointView points) : tree_(tree), points_(points) {}

  std::string run(const VerifyTreeOptions& options) {
    const bool is_right = core::visit_dims(
        points_.dims(), [&](auto dims) { return QuickCheck<T, dims.value>(tree_, points_).run(options); });
    if (is_right) return "";
    visit_ranges(tree_.rows.size(), {tree_.facts.middle, "checking", options.threads, &options.progress},
                 [this](const TreeRange& range, int) {
                   std::string wrong = check(range);
                   if (wrong.empty()) return;
                   const std::lock_guard guard(lock_);
                   const std::pair here(range.level, range.first);
                   if (!first_.empty() && first_place_ <= here) return;
                   first_ = std::move(wrong);
                   first_place_ = here;
                 });
    return first_;
  }

 private:
  NumberedPoint<T> at(std::uint64_t position) const {
    return {points_.template row<T>(position), tree_.rows[position]};
  }

  std::string check(const TreeRange& range) const {
    const std::uint64_t node = range.middle();
    const std::uint32_t dim = tree_.split_dim[node];
    if (dim >= points_.dims()) {
      return fmt::format("{}: splits dimension {}, but the points have {}", tree_.name(node), dim, points_.dims());
    }
    const auto point = [&](std::uint64_t i) { return at(range.first + i).coordinates; };
    const std::uint32_t expected = split_dimension<T>(tree_.facts.split, range, points_.dims(), point);
    if (dim != expected) return wrong_dimension(range, dim, expected);
    for (std::uint64_t position = range.first; position < range.last; ++position) {
      if (position == node) continue;
      const bool before = precedes(at(position), at(node), dim, points_.dims());
      if (before == (position < node)) continue;
      return fmt::format("{}: {} is in its {} subtree, but {} it by dimension {}: {} against {}", tree_.name(node),
                         tree_.name(position), position < node ? "less-than" : "greater-than",
                         before ? "precedes" : "follows", dim, at(position).coordinates[dim],
                         at(node).coordinates[dim]);
    }
    return "";
  }

  std::string wrong_dimension(const TreeRange& range, std::uint32_t dim, std::uint32_t expected) const {
    const std::string who = tree_.name(range.middle());
    if (tree_.facts.split == SplitRule::cycle) {
      return fmt::format("{}: splits dimension {}, but by cycle level {} splits dimension {}", who, dim, range.level,
                         expected);
    }
    const auto point = [&](std::uint64_t i) { return at(range.first + i).coordinates; };
    const std::vector<T> sides = box_sides<T>(range.size(), points_.dims(), point);
    return fmt::format("{}: splits dimension {}, which is {} wide, but dimension {} is the widest: {}", who, dim,
                       sides[dim], expected, sides[expected]);
  }

  const ClaimedTree& tree_;
  PointView points_;  // in the order of the tree
  std::mutex lock_;
  std::string first_;
  std::pair<std::uint32_t, std::uint64_t> first_place_;
};

/// `ordered` holds the points in the order of the tree.
TreeVerdict check_order(const ClaimedTree& tree, PointView ordered, const VerifyTreeOptions& options) {
  TreeVerdict verdict;
  verdict.nodes = tree.rows.size();
  verdict.levels = static_cast<std::uint64_t>(std::bit_width(verdict.nodes));
  verdict.first_violation = ordered.dtype() == DType::f32 ? OrderCheck<float>(tree, ordered).run(options)
                                                          : OrderCheck<double>(tree, ordered).run(options);
  return verdict;
}

TreeVerdict refused(std::uint64_t nodes, std::string why) { return {nodes, 0, std::move(why)}; }

/// The coordinates at each position must be those of its point, bit for bit.
template <typename T>
std::string check_coordinates(const InOrderTree& tree, PointView points, int threads) {
  const PointView stored = tree.points.view();
  if (all_of(tree.index.size(), threads, [&](std::uint64_t i) {
        return std::memcmp(stored.row<T>(i), points.row<T>(tree.index[i]), points.dims() * sizeof(T)) == 0;
      })) {
    return "";
  }
  for (std::uint64_t position = 0; position < tree.index.size(); ++position) {
    const std::uint32_t row = tree.index[position];
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      const T& here = stored.row<T>(position)[d];
      const T& there = points.row<T>(row)[d];
      if (std::memcmp(&here, &there, sizeof(T)) == 0) continue;
      return fmt::format("position {}: dimension {} is {}, but that of point {} is {}", position, d, here, row, there);
    }
  }
  return "";
}

/// `rows`: of the points, or of the tree. `copied`: bytes of points that are laid in order. Where a GPU was requested
/// host memory is not limited.
template <typename Check>
auto with_memory(std::uint64_t rows, std::uint64_t copied, const VerifyTreeOptions& options, Check&& check) {
  constexpr std::uint64_t kBytesPerRow = 48;
  const std::uint64_t bytes = rows * kBytesPerRow + copied;
  if (options.device.kind() != Device::Kind::cuda) runtime::require_allowed(bytes, "checking the tree");
  try {
    return check();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("checking a tree of {} points needs about {} bytes; free some memory", rows, bytes));
  }
}

/// Checks a table and lays its points in order: `tree`.
TreeVerdict check_table(const NodeTable& table, PointView points, const VerifyTreeOptions& options, InOrderTree& tree) {
  check_facts(table.facts, points);
  const std::uint64_t count = table.point.size();
  if (table.split_dim.size() != count || table.less.size() != count || table.greater.size() != count) {
    return refused(count,
                   fmt::format("the columns of the table differ in length: {} points, {} split dimensions, {} and "
                               "{} children",
                               count, table.split_dim.size(), table.less.size(), table.greater.size()));
  }
  const std::uint64_t copied = count * points.dims() * size_of(points.dtype());
  return with_memory(std::max(count, points.rows()), copied, options, [&] {
    std::string wrong = check_points(table.point, table.facts, points, options,
                                     [](std::uint64_t node) { return fmt::format("node {}", node); });
    if (!wrong.empty()) return refused(count, std::move(wrong));
    std::vector<std::uint32_t> nodes;
    wrong = TableWalk(table).run(nodes, options);
    if (!wrong.empty()) return refused(count, std::move(wrong));
    tree.facts = table.facts;
    tree.index.resize(count);
    tree.split_dim.resize(count);
    all_of(count, options.threads, [&](std::uint64_t i) {
      tree.index[i] = table.point[nodes[i]];
      tree.split_dim[i] = table.split_dim[nodes[i]];
      return true;
    });
    tree.points = take_rows(points, tree.index, options.threads);
    return check_order({tree.facts, tree.index, tree.split_dim, nodes}, tree.points.view(), options);
  });
}

/// Arrays that differ in length, or coordinates of another type or other dims than the tree says.
std::string check_arrays(const InOrderTree& tree) {
  const std::uint64_t count = tree.index.size();
  if (tree.split_dim.size() != count || tree.points.rows() != count) {
    return fmt::format("the arrays differ in length: {} indices, {} points, {} split dimensions", count,
                       tree.points.rows(), tree.split_dim.size());
  }
  if (count > 0 && (tree.points.dims() != tree.facts.dims || tree.points.dtype() != tree.facts.dtype)) {
    return fmt::format("the coordinates are {} with {} dims, but should be {} with {}", name_of(tree.points.dtype()),
                       tree.points.dims(), name_of(tree.facts.dtype), tree.facts.dims);
  }
  return "";
}

/// Every position has a point of its own, whose coordinates are finite.
std::string check_positions(const InOrderTree& tree, int threads) {
  const std::uint64_t count = tree.index.size(), rows = tree.facts.rows;
  if (rows > kMostRows) return fmt::format("there are {} points, and numbers for {}", rows, kMostRows);
  const bool are_few = rows / 64 > count;  // a map of all rows would take more memory than the tree
  std::vector<bool> is_seen(are_few ? 0 : rows, false);
  std::unordered_set<std::uint32_t> seen;
  for (std::uint64_t position = 0; position < count; ++position) {
    const std::uint32_t row = tree.index[position];
    if (row >= rows) return fmt::format("position {}: there is no point {}, the data has {}", position, row, rows);
    if (are_few ? !seen.insert(row).second : is_seen[row]) {
      const auto before = std::find(tree.index.begin(), tree.index.end(), row) - tree.index.begin();
      return fmt::format("position {}: point {} is also at position {}", position, row, before);
    }
    if (!are_few) is_seen[row] = true;
  }
  const std::vector<std::uint32_t> usable = usable_rows(tree.points.view(), {.skip = true, .threads = threads});
  if (usable.size() == count) return "";
  std::uint64_t position = 0;
  while (position < usable.size() && usable[position] == position) ++position;
  return fmt::format("position {}: point {} holds NaN or infinity", position, tree.index[position]);
}

TreeVerdict right(std::uint64_t nodes) { return {nodes, static_cast<std::uint64_t>(std::bit_width(nodes)), ""}; }

/// Whether a GPU is to check the tree, and finds nothing wrong.
bool is_right_by_gpu(const TreeFacts& facts, PointView points, const TreeOnDevice& claimed,
                     const ClaimedTreeArrays& arrays, const VerifyTreeOptions& options) {
  if (options.device.kind() != Device::Kind::cuda) return false;
  DeviceTreeOptions on_device;
  on_device.split = facts.split;
  on_device.middle = facts.middle;
  on_device.unique = facts.unique;
  on_device.skip_nonfinite = true;
  on_device.device = options.device;
  on_device.threads = options.threads;
  on_device.progress = options.progress;
  return is_tree_on_device(points, arrays, claimed, on_device);
}

}  // namespace

TreeVerdict verify_tree(const NodeTable& table, PointView points, const VerifyTreeOptions& options) {
  check_facts(table.facts, points);
  const std::uint64_t count = table.point.size();
  if (table.split_dim.size() == count && table.less.size() == count && table.greater.size() == count &&
      is_right_by_gpu(table.facts, points, {count, table.root},
                      {table.point.data(), table.split_dim.data(), table.less.data(), table.greater.data()}, options)) {
    return right(count);
  }
  InOrderTree tree;
  return check_table(table, points, options, tree);
}

TreeVerdict verify_tree(const InOrderTree& tree, PointView points, const VerifyTreeOptions& options) {
  check_facts(tree.facts, points);
  const std::uint64_t count = tree.index.size();
  if (std::string wrong = check_arrays(tree); !wrong.empty()) return refused(count, std::move(wrong));
  if (is_right_by_gpu(tree.facts, points, {count, 0},
                      {tree.index.data(), tree.split_dim.data(), nullptr, nullptr, tree.points.view().data()},
                      options)) {
    return right(count);
  }
  return with_memory(std::max(count, points.rows()), 0, options, [&] {
    std::string wrong = check_points(tree.index, tree.facts, points, options,
                                     [](std::uint64_t position) { return fmt::format("position {}", position); });
    if (wrong.empty()) {
      wrong = points.dtype() == DType::f32 ? check_coordinates<float>(tree, points, options.threads)
                                           : check_coordinates<double>(tree, points, options.threads);
    }
    if (!wrong.empty()) return refused(count, std::move(wrong));
    return check_order({tree.facts, tree.index, tree.split_dim, {}}, tree.points.view(), options);
  });
}

TreeVerdict verify_tree_alone(const InOrderTree& tree, const VerifyTreeOptions& options) {
  const std::uint64_t count = tree.index.size();
  if (std::string wrong = check_arrays(tree); !wrong.empty()) return refused(count, std::move(wrong));
  return with_memory(count, 0, options, [&] {
    std::string wrong = check_positions(tree, options.threads);
    if (!wrong.empty()) return refused(count, std::move(wrong));
    return check_order({tree.facts, tree.index, tree.split_dim, {}}, tree.points.view(), options);
  });
}

InOrderTree in_order(const NodeTable& table, PointView points, const VerifyTreeOptions& options) {
  InOrderTree tree;
  const TreeVerdict verdict = check_table(table, points, options, tree);
  if (!verdict.first_violation.empty()) throw BadData("the tree is wrong: " + verdict.first_violation);
  return tree;
}

}  // namespace kith::apps::inline v0
