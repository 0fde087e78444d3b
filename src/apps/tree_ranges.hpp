// The ranges of a balanced tree that lies in order, and the loop that visits them all in parallel, parents first.
#pragma once

#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/progress.hpp>

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

  std::uint64_t size() const { return last - first; }
  std::uint64_t middle() const { return first + (last - first) / 2; }  // floor((first + last) / 2)

  /// Calls `take(child)` for each child that has points.
  template <typename Take>
  void for_children(Take&& take) const {
    if (first < middle()) take(TreeRange{first, middle(), level + 1});
    if (middle() + 1 < last) take(TreeRange{middle() + 1, last, level + 1});
  }
};

/// How the visit runs and reports.
struct VisitOptions {
  std::string_view stage;
  int threads = 0;
  const ProgressCallback* progress = nullptr;
};

namespace detail {

/// Depth first; as deep as the tree, so at most 32 calls.
template <typename Visit>
void visit_subtree(const TreeRange& range, const Visit& visit) {
  visit(range);
  range.for_children([&](const TreeRange& child) { visit_subtree(child, visit); });
}

}  // namespace detail

/// Calls `visit(range)` for the ranges of the top levels of a tree of `count` > 0 nodes, each after its parent, and
/// returns the ranges below them, which have not been visited: enough to keep all threads busy, or small.
template <typename Visit>
std::vector<TreeRange> visit_top(std::uint64_t count, const VisitOptions& options, const Visit& visit) {
  constexpr std::size_t kEnoughTasks = 256;
  constexpr std::uint64_t kSmallTask = 1024;
  runtime::ProgressMeter meter(options.progress, options.stage, count);
  std::vector<TreeRange> level = {{0, count, 0}};
  while (level.size() < kEnoughTasks && level[0].size() > kSmallTask) {
    runtime::parallel_for(level.size(), {.threads = options.threads}, [&](std::uint64_t i) { visit(level[i]); });
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

/// Both in one: every range once, after its parent. `count` may be 0.
template <typename Visit>
void visit_ranges(std::uint64_t count, const VisitOptions& options, const Visit& visit) {
  if (count > 0) visit_below(count, visit_top(count, options, visit), options, visit);
}

}  // namespace kith::apps::inline v0
