// Queries in an order in which neighbours follow each other: what one has looked at is still in the cache for the next.
#pragma once

#include "cpu/cover_tree/prepared_tree.hpp"
#include "runtime/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace kith::cpu {

/// Some queries by the child of the root that is nearest to them. The distances that tell which are kept for the walk,
/// which would measure them first of all.
template <Space S>
class NearQueries {
 public:
  using Value = typename S::Value;
  using OutsideOf = std::function<typename S::Outside(std::uint64_t query)>;

  /// Whether that pays: many queries, and more objects than a cache holds.
  static bool pays(const PreparedTree<S>& tree, std::uint64_t queries) {
    constexpr std::uint64_t kFewestQueries = 256, kFewestBytes = 1 << 20;
    return queries >= kFewestQueries && tree.objects().memory_bytes() >= kFewestBytes && tree.has_distances() &&
           !tree.node(0).is_leaf();
  }
  /// The most that are taken at a time, and about the most distances that are kept.
  static constexpr std::uint64_t kMostQueries = 1 << 16, kMostValues = 1 << 24;

  /// How many queries to take at a time, so that the distances take no more than 64 MiB or so.
  static std::uint64_t most_at_a_time(const PreparedTree<S>& tree) {
    return std::clamp<std::uint64_t>(kMostValues / tree.node(0).children, 1 << 10, kMostQueries);
  }

  /// What a search with so many queries takes.
  static std::uint64_t bytes_of(const PreparedTree<S>& tree, std::uint64_t queries) {
    if (!pays(tree, queries)) return 0;
    return std::min(queries, most_at_a_time(tree)) * (tree.node(0).children * sizeof(Value) + 8);
  }

  /// The queries [first, first + count).
  NearQueries(const PreparedTree<S>& tree, const OutsideOf& outside, std::uint64_t first, std::uint64_t count,
              int threads)
      : children_(tree.node(0).children), first_(first), values_(count * children_), order_(count) {
    constexpr std::uint64_t kQueriesPerTask = 64;
    runtime::parallel_for((count + kQueriesPerTask - 1) / kQueriesPerTask, {.threads = threads},
                          [&](std::uint64_t task) {
                            const typename ScratchPool<S>::Lease lease(tree.scratch());
                            const std::uint64_t end = std::min(count, (task + 1) * kQueriesPerTask);
                            for (std::uint64_t i = task * kQueriesPerTask; i < end; ++i) {
                              tree.space().ask_outside((*lease).query, outside(first + i));
                              measure(tree, (*lease).query, i);
                            }
                          });
    std::sort(order_.begin(), order_.end());
  }

  std::uint64_t query(std::uint64_t i) const { return first_ + order_[i].second; }
  /// Of the root's children, in their order, for query(i).
  const Value* values(std::uint64_t i) const { return values_.data() + std::uint64_t{order_[i].second} * children_; }
  std::uint64_t evaluations() const { return values_.size(); }

 private:
  void measure(const PreparedTree<S>& tree, typename S::Query& query, std::uint64_t i) {
    constexpr Value kEverything = std::numeric_limits<Value>::infinity();
    Value* values = values_.data() + i * children_;
    tree.centres().measure(query, tree.node(0).first_child, children_, kEverything, values);
    const auto nearest = static_cast<std::uint32_t>(std::min_element(values, values + children_) - values);
    order_[i] = {nearest, static_cast<std::uint32_t>(i)};
  }

  std::uint32_t children_;
  std::uint64_t first_;
  std::vector<Value> values_;                                   ///< [query][child]
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order_;  ///< (nearest child, query)
};

}  // namespace kith::cpu
