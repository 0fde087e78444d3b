// The unique tree as it lies in order: its ranges, the loop that visits them all in parallel, parents first, the order
// of its points, and the dimension that a node splits.
#pragma once

#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "split/split_parallel.hpp"

#include <kith/apps/tree_export.hpp>
#include <kith/index.hpp>
#include <kith/progress.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {

/// The positions [first, last) of one subtree, never empty; its node is in the middle.
struct TreeRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint32_t level = 0;
  Middle rule = Middle::right;

  std::uint64_t size() const { return last - first; }
  std::uint64_t middle() const { return first + (size() - (rule == Middle::left ? 1 : 0)) / 2; }

  /// Calls `take(child)` for each child that has points.
  template <typename Take>
  void for_children(Take&& take) const {
    if (first < middle()) take(TreeRange{first, middle(), level + 1, rule});
    if (middle() + 1 < last) take(TreeRange{middle() + 1, last, level + 1, rule});
  }
};

/// What is visited, and how the visit runs and reports.
struct VisitOptions {
  Middle rule = Middle::right;
  std::string_view stage;
  int threads = 0;
  const ProgressCallback* progress = nullptr;
  std::uint64_t most_below = 0;  ///< points of a range below the top levels; 0: any number
};

namespace detail {

/// Depth first; as deep as the tree, so at most 32 calls.
template <typename Visit>
void visit_subtree(const TreeRange& range, const Visit& visit) {
  visit(range);
  range.for_children([&](const TreeRange& child) { visit_subtree(child, visit); });
}

}  // namespace detail

/// Calls `visit(range, threads)` for the ranges of the top levels of a tree of `count` > 0 nodes, each after its
/// parent, and returns the ranges below them, which have not been visited: enough to keep all threads busy, or small.
/// The visit of a range among few large ones may use so many threads, others one.
template <typename Visit>
std::vector<TreeRange> visit_top(std::uint64_t count, const VisitOptions& options, const Visit& visit) {
  constexpr std::uint64_t kSmallTask = 1024;
  const int threads = runtime::resolve_threads(options.threads);
  runtime::ProgressMeter meter(options.progress, options.stage, count);
  std::vector<TreeRange> level = {{0, count, 0, options.rule}};
  // Ranges with a limit are for caches and stay there for all levels below: the fewer levels here, the better.
  const std::uint64_t most = options.most_below == 0 ? count : options.most_below;
  const std::size_t enough = options.most_below == 0 ? 256 : threads > 1 ? 8 * static_cast<std::size_t>(threads) : 1;
  while (level[0].size() > kSmallTask && (level.size() < enough || level[0].size() > most)) {
    if (level.size() < 2 * static_cast<std::size_t>(threads) && split::is_split_in_parallel(level[0].size())) {
      for (const TreeRange& range : level) visit(range, threads);
    } else {
      runtime::parallel_for(level.size(), {.threads = threads}, [&](std::uint64_t i) { visit(level[i], 1); });
    }
    std::vector<TreeRange> next;
    for (const TreeRange& range : level) range.for_children([&](const TreeRange& child) { next.push_back(child); });
    level = std::move(next);
    meter.report(0);  // the top levels are few but long: here an interrupt is noticed
  }
  return level;
}

/// The rest: every range of the subtrees that `visit_top` returned, parents first. Subtrees are visited at the same
/// time.
template <typename Visit>
void visit_below(std::uint64_t count, const std::vector<TreeRange>& subtrees, const VisitOptions& options,
                 const Visit& visit) {
  const std::uint64_t units = (count + subtrees.size() - 1) / subtrees.size();
  runtime::parallel_for(subtrees.size(), {options.threads, options.stage, options.progress, units, count},
                        [&](std::uint64_t i) { detail::visit_subtree(subtrees[i], visit); });
}

/// Both in one: visit(range, threads) of every range once, after its parent. `count` may be 0.
template <typename Visit>
void visit_ranges(std::uint64_t count, const VisitOptions& options, const Visit& visit) {
  const auto visit_alone = [&](const TreeRange& range) { visit(range, 1); };
  if (count > 0) visit_below(count, visit_top(count, options, visit), options, visit_alone);
}

/// A point and its number.
template <typename T>
struct NumberedPoint {
  const T* coordinates;
  std::uint32_t number;
};

/// Whether `a` comes before `b` by (x_d, x_(d+1), …, x_(d-1), number). -0 equals +0; no coordinate is NaN.
template <typename T>
bool precedes(NumberedPoint<T> a, NumberedPoint<T> b, std::uint32_t dim, std::uint32_t dims) {
  for (std::uint32_t step = 0, d = dim; step < dims; ++step) {
    if (a.coordinates[d] != b.coordinates[d]) return a.coordinates[d] < b.coordinates[d];
    d = d + 1 == dims ? 0 : d + 1;
  }
  return a.number < b.number;
}

/// The sides of the tight box of `count` > 0 points, upper - lower in the type of the points; `point(i)` is the i-th.
template <typename T, typename Point>
std::vector<T> box_sides(std::uint64_t count, std::uint32_t dims, const Point& point) {
  std::vector<T> lower(point(0), point(0) + dims);
  std::vector<T> upper = lower;
  for (std::uint64_t i = 1; i < count; ++i) {
    const T* const values = point(i);
    for (std::uint32_t d = 0; d < dims; ++d) {
      lower[d] = std::min(lower[d], values[d]);
      upper[d] = std::max(upper[d], values[d]);
    }
  }
  for (std::uint32_t d = 0; d < dims; ++d) upper[d] -= lower[d];
  return upper;
}

/// The widest side of the box, the lowest dimension among equals; or, by cycle, the level mod dims. `point(i)` is the
/// i-th point of the range.
template <typename T, typename Point>
std::uint32_t split_dimension(SplitRule rule, const TreeRange& range, std::uint32_t dims, const Point& point) {
  if (rule == SplitRule::cycle) return range.level % dims;
  if (range.size() == 1) return 0;  // all sides are 0
  const std::vector<T> sides = box_sides<T>(range.size(), dims, point);
  return static_cast<std::uint32_t>(std::max_element(sides.begin(), sides.end()) - sides.begin());
}

}  // namespace kith::apps::inline v0
