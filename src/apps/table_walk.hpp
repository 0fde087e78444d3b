// The part of kith verify that follows the nodes of a table: it finds every node that is missing, reached twice or out
// of balance, and ends after n steps whatever the table says.
#pragma once

#include "apps/tree_ranges.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/verify_tree.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace kith::apps::inline v0 {

/// Calls each(i) for all i below `count` on all threads, until one is false; returns whether none was.
template <typename Each>
bool all_of(std::uint64_t count, int threads, const Each& each) {
  constexpr std::uint64_t kBlock = 1 << 16;
  std::atomic<bool> is_right = true;
  runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(count, (block + 1) * kBlock);
    for (std::uint64_t i = block * kBlock; i < end && is_right.load(std::memory_order_relaxed); ++i) {
      if (!each(i)) is_right.store(false, std::memory_order_relaxed);
    }
  });
  return is_right;
}

/// Walks a table from its root along the ranges that a balanced tree must have.
class TableWalk {
 public:
  explicit TableWalk(const NodeTable& table) : table_(table) {}

  /// Fills `node_at` (the node of each position). Empty if all is right.
  std::string run(std::vector<std::uint32_t>& node_at, const VerifyTreeOptions& options) {
    const std::uint64_t count = table_.point.size();
    node_at.resize(count);
    if (count > 0 && table_.root < count && is_right(node_at, options)) return "";
    if (count == 0)
      return table_.root == kNoNode ? "" : fmt::format("the root is {}, but there are no nodes", table_.root);
    if (table_.root >= count) return fmt::format("the root {} is not a node; there are {}", table_.root, count);
    reached_from_.assign(count, kUnreached);
    reached_from_[table_.root] = kFromOutside;
    std::deque<std::pair<TreeRange, std::uint32_t>> open = {{TreeRange{0, count, 0, table_.facts.middle}, table_.root}};
    while (!open.empty()) {
      const auto [range, node] = open.front();
      open.pop_front();
      node_at[range.middle()] = node;
      const TreeRange before{range.first, range.middle(), range.level + 1, range.rule};
      const TreeRange after{range.middle() + 1, range.last, range.level + 1, range.rule};
      for (const auto& [child_range, child, side] : {std::tuple(before, table_.less[node], "less-than"),
                                                     std::tuple(after, table_.greater[node], "greater-than")}) {
        const std::string wrong = check_child(node, child, side, child_range.size());
        if (!wrong.empty()) return wrong;
        if (child_range.size() > 0) open.emplace_back(child_range, child);
      }
    }
    return "";
  }

 private:
  static constexpr std::uint32_t kUnreached = 0xffffffff;
  static constexpr std::uint32_t kFromOutside = 0xfffffffe;

  /// Every position has a node; if each node is at one of them, none was reached twice.
  bool is_right(std::vector<std::uint32_t>& node_at, const VerifyTreeOptions& options) const {
    const std::uint64_t count = table_.point.size();
    std::atomic<bool> is_right = true;
    node_at[TreeRange{0, count, 0, table_.facts.middle}.middle()] = table_.root;
    visit_ranges(
        count, {table_.facts.middle, "walking", options.threads, &options.progress}, [&](const TreeRange& range, int) {
          const std::uint64_t middle = range.middle();
          const std::uint32_t node = node_at[middle];
          bool has_less = false, has_greater = false;
          range.for_children([&](const TreeRange& child) {
            const bool is_less = child.first < middle;
            (is_less ? has_less : has_greater) = true;
            const std::uint32_t number = (is_less ? table_.less : table_.greater)[node];
            if (number >= count) is_right.store(false, std::memory_order_relaxed);
            node_at[child.middle()] = number < count ? number : 0;
          });
          if ((!has_less && table_.less[node] != kNoNode) || (!has_greater && table_.greater[node] != kNoNode)) {
            is_right.store(false, std::memory_order_relaxed);
          }
        });
    if (!is_right) return false;
    if (all_of(count, options.threads, [&](std::uint64_t i) { return node_at[i] == i; })) return true;  // as we number
    std::vector<std::uint8_t> marks(count, 0);
    return all_of(count, options.threads, [&](std::uint64_t i) {
      return std::atomic_ref(marks[node_at[i]]).exchange(1, std::memory_order_relaxed) == 0;
    });
  }

  std::string check_child(std::uint32_t node, std::uint32_t child, std::string_view side, std::uint64_t size) {
    if (size == 0 && child == kNoNode) return "";
    const std::string who = fmt::format("node {} (point {})", node, table_.point[node]);
    if (size == 0) {
      return fmt::format("{}: has the {} child {}, but a balanced tree has no nodes there", who, side, child);
    }
    if (child == kNoNode) {
      return fmt::format("{}: has no {} child, but a balanced tree has {} nodes there", who, side, size);
    }
    if (child >= table_.point.size()) {
      return fmt::format("{}: its {} child {} is not a node; there are {}", who, side, child, table_.point.size());
    }
    if (reached_from_[child] != kUnreached) {
      const std::string before = reached_from_[child] == kFromOutside
                                     ? "it is the root"
                                     : fmt::format("node {} leads to it too", reached_from_[child]);
      return fmt::format("{}: its {} child {} is reached twice; {}", who, side, child, before);
    }
    reached_from_[child] = node;
    return "";
  }

  const NodeTable& table_;
  std::vector<std::uint32_t> reached_from_;
};

}  // namespace kith::apps::inline v0
