// Builds the tree in place: each range is split around its middle by selection, then its halves are. Once the ranges
// are small, the coordinates are copied so that those of a range lie side by side, and stay in the cache for all levels
// below.
//
//   pass (per level)      per point                      memory per point
//   box                   read d coordinates             d coordinates, below the top levels
//   keys                  read one coordinate            8 bytes (f64: 16), and 8 for rows
//   selection             about three comparisons        -
#include <kith/apps/tree_export.hpp>

#include "apps/equal_rows.hpp"
#include "apps/split_dimension.hpp"
#include "apps/super_key.hpp"
#include "apps/tree_ranges.hpp"
#include "apps/usable_rows.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <span>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

/// The tree in order.
struct OrderedTree {
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> split_dim;
};

template <typename T>
class TreeBuilder {
 public:
  TreeBuilder(PointView points, std::vector<std::uint32_t> rows, const TreeExportOptions& options)
      : points_(points), options_(options), entries_(rows.size()) {
    tree_.rows = std::move(rows);
    tree_.split_dim.resize(tree_.rows.size());
  }

  OrderedTree run() {
    const std::uint64_t count = tree_.rows.size();
    if (count == 0) return std::move(tree_);
    const VisitOptions visit{"building", options_.threads, &options_.progress};
    const auto split_range = [this](const TreeRange& range) { split(range); };
    const std::vector<TreeRange> subtrees = visit_top(count, visit, split_range);
    bring_together(subtrees);
    visit_below(count, subtrees, visit, split_range);
    for (std::uint32_t& row : tree_.rows) row = original_[row];
    return std::move(tree_);
  }

 private:
  /// A row with the coordinate that decides most comparisons, so that they need not look it up.
  struct Entry {
    T key;
    std::uint32_t row;
  };

  const T* row(std::uint32_t number) const { return points_.row<T>(number); }

  /// From here on a row is a position in a copy. Inside a subtree positions have the order of the rows, so ties end the
  /// same way; nodes above the subtrees are in their places already.
  void bring_together(const std::vector<TreeRange>& subtrees) {
    runtime::parallel_for(subtrees.size(), {.threads = options_.threads}, [&](std::uint64_t i) {
      std::sort(tree_.rows.begin() + static_cast<std::ptrdiff_t>(subtrees[i].first),
                tree_.rows.begin() + static_cast<std::ptrdiff_t>(subtrees[i].last));
    });
    copy_ = take_rows(points_, tree_.rows, options_.threads);
    points_ = copy_.view();
    original_ = tree_.rows;
    std::iota(tree_.rows.begin(), tree_.rows.end(), 0u);
  }

  void split(const TreeRange& range) {
    const std::uint32_t dims = points_.dims();
    const std::span<std::uint32_t> rows = std::span(tree_.rows).subspan(range.first, range.size());
    const std::uint32_t dim =
        split_dimension<T>(options_.split, range, dims, [&](std::uint64_t i) { return row(rows[i]); });
    tree_.split_dim[range.middle()] = dim;
    if (rows.size() == 1) return;
    const std::span<Entry> entries = std::span(entries_).subspan(range.first, range.size());
    for (std::size_t i = 0; i < rows.size(); ++i) entries[i] = {row(rows[i])[dim], rows[i]};
    const auto middle = static_cast<std::ptrdiff_t>(range.middle() - range.first);
    std::nth_element(entries.begin(), entries.begin() + middle, entries.end(), [&](const Entry& a, const Entry& b) {
      if (a.key != b.key) return a.key < b.key;
      return precedes<T>({row(a.row), a.row}, {row(b.row), b.row}, dim, dims);
    });
    std::transform(entries.begin(), entries.end(), rows.begin(), [](const Entry& entry) { return entry.row; });
  }

  PointView points_;
  const TreeExportOptions& options_;
  std::vector<Entry> entries_;
  PointSet copy_;
  std::vector<std::uint32_t> original_;  // the row at each position of the copy
  OrderedTree tree_;
};

OrderedTree build_tree(PointView points, const TreeExportOptions& options) {
  std::vector<std::uint32_t> rows = usable_rows(points, {.skip = options.skip_nonfinite, .threads = options.threads});
  if (options.unique) {
    const EqualRowsOptions equal{{}, options.threads, &options.progress};
    const std::vector<std::uint32_t> first_equal = first_equal_rows(points, rows, equal);
    std::erase_if(rows, [&](std::uint32_t row) { return first_equal[row] != row; });
  }
  return points.dtype() == DType::f32 ? TreeBuilder<float>(points, std::move(rows), options).run()
                                      : TreeBuilder<double>(points, std::move(rows), options).run();
}

TreeFacts facts_of(PointView points, const TreeExportOptions& options) {
  return {points.rows(), points.dims(), points.dtype(), options.split, options.unique};
}

template <typename Export>
auto with_checks(PointView points, const TreeExportOptions& options, Export&& run) {
  require_host_points(points, "export a tree");
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  try {
    return run();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("a tree of {} points needs about {} bytes; free some memory", points.rows(), points.rows() * 32));
  }
}

}  // namespace

NodeTable export_node_table(PointView points, const TreeExportOptions& options) {
  return with_checks(points, options, [&] {
    OrderedTree tree = build_tree(points, options);
    NodeTable table;
    table.facts = facts_of(points, options);
    table.point = std::move(tree.rows);
    table.split_dim = std::move(tree.split_dim);
    table.less.assign(table.point.size(), kNoNode);
    table.greater.assign(table.point.size(), kNoNode);
    if (!table.point.empty()) {
      table.root = static_cast<std::uint32_t>(TreeRange{0, table.point.size(), 0}.middle());
    }
    visit_ranges(table.point.size(), {"linking", options.threads, &options.progress}, [&](const TreeRange& range) {
      const std::uint64_t node = range.middle();
      range.for_children([&](const TreeRange& child) {
        (child.first < node ? table.less : table.greater)[node] = static_cast<std::uint32_t>(child.middle());
      });
    });
    return table;
  });
}

InOrderTree export_in_order(PointView points, const TreeExportOptions& options) {
  return with_checks(points, options, [&] {
    OrderedTree ordered = build_tree(points, options);
    InOrderTree tree;
    tree.facts = facts_of(points, options);
    tree.index = std::move(ordered.rows);
    tree.split_dim = std::move(ordered.split_dim);
    tree.points = take_rows(points, tree.index, options.threads);
    return tree;
  });
}

}  // namespace kith::apps::inline v0
