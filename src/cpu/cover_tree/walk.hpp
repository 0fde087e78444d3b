// The walk of one query through a cover tree: nearest nodes first, whole ranges measured at a time.
#pragma once

#include "cpu/cover_tree/prepared_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::cpu {

/// Offers a collector every object that it might want.
///
/// A collector has
/// - `Value limit()`: no object with a value above is wanted;
/// - `double reach()`: the metric of it;
/// - `bool passes_over(double bound, std::uint32_t lowest)`: nothing is wanted that is at least `bound` away and
///   numbered from `lowest` on;
/// - `bool takes_whole(double farthest, const CoverNode&)`: it wants all objects of a node, which are at most so far
///   away, and has taken them;
/// - `bool take(Value, std::uint32_t number)`: an object within the limit, which may fall. False if none with the same
///   value and a higher number can be wanted.
template <Space S, typename Collector>
class CoverWalk {
 public:
  using Value = typename S::Value;

  CoverWalk(const PreparedTree<S>& tree, CoverScratch<S>& scratch, Collector& collector)
      : tree_(tree),
        rounding_(tree.rounding()),
        query_(scratch.query),
        pending_(scratch.pending),
        groups_(scratch.groups),
        first_values_(scratch.first_values),
        collector_(collector) {}

  /// Returns how many distances were measured.
  std::uint64_t run() {
    if (tree_.size() == 0) return 0;
    if (!tree_.has_distances()) {
      scan(0, tree_.size());
      return evaluations_;
    }
    if (first_values_ == nullptr) measure(tree_.centres(), 0, 1, kEverything);
    pending_.clear();
    groups_.assign(1, PendingGroup{});
    note(0, first_values_ == nullptr ? values_[0] : first_values_[0]);
    while (!groups_.empty()) {
      if (groups_.back().first == pending_.size()) {
        groups_.pop_back();
        continue;
      }
      put_nearest_last();
      const Pending at = pending_.back();
      pending_.pop_back();
      ++groups_.back().taken;
      const engine::CoverNode& node = tree_.node(at.node);
      if (collector_.passes_over(at.bound, node.lowest)) continue;
      if (collector_.takes_whole(rounding_.farthest(at.distance, node.reach), node)) continue;
      if (node.is_leaf()) {
        visit_leaf(at, node);
      } else {
        visit_children(at, node);
      }
    }
    return evaluations_;
  }

 private:
  using Pending = PendingNode<Value>;

  static constexpr std::uint32_t kMostAtATime = 128;
  static constexpr Value kEverything = std::numeric_limits<Value>::infinity();

  void measure(const typename S::Rows& rows, std::uint32_t first, std::uint32_t count, Value limit) {
    rows.measure(query_, first, count, limit, values_);
    evaluations_ += count;
  }

  /// Keeps a node for later, unless it is certain now that it holds nothing.
  void note(std::uint32_t number, Value value) {
    const engine::CoverNode& node = tree_.node(number);
    const double distance = tree_.space().metric(value);
    const double bound = rounding_.nearest(distance, node.reach);
    if (!collector_.passes_over(bound, node.lowest)) pending_.push_back({bound, distance, value, number});
  }

  /// In the last group. After the first of siblings was visited most others are passed over: only then the rest is put
  /// in order.
  void put_nearest_last() {
    const auto first = pending_.begin() + static_cast<std::ptrdiff_t>(groups_.back().first);
    constexpr FartherFirst<Value> is_farther;
    if (groups_.back().taken == 0) {
      std::iter_swap(std::max_element(first, pending_.end(), is_farther), pending_.end() - 1);
    } else if (groups_.back().taken == 1) {
      const auto last = std::remove_if(first, pending_.end() - 1, [&](const Pending& node) {
        return collector_.passes_over(node.bound, tree_.node(node.node).lowest);
      });
      *last = pending_.back();
      pending_.erase(last + 1, pending_.end());
      std::sort(first, pending_.end(), is_farther);
    }
  }

  void visit_children(const Pending& at, const engine::CoverNode& node) {
    groups_.push_back({pending_.size(), 0});
    note(node.first_child, at.value);  // the same centre
    const std::uint32_t end = node.first_child + node.children;
    if (at.node == 0 && first_values_ != nullptr) {
      for (std::uint32_t i = 1; i < node.children; ++i) note(node.first_child + i, first_values_[i]);
      return;
    }
    for (std::uint32_t child = node.first_child + 1; child < end;) {
      if (is_far(at.distance, tree_.node(child))) {
        ++child;
        continue;
      }
      // A few that are too far are measured with those around them.
      std::uint32_t stop = child + 1;
      for (std::uint32_t next = stop; next < end && next - stop < kGap && next - child < kMostAtATime; ++next) {
        if (!is_far(at.distance, tree_.node(next))) stop = next + 1;
      }
      measure(tree_.centres(), child, stop - child, kEverything);
      for (std::uint32_t i = child; i < stop; ++i) note(i, values_[i - child]);
      child = stop;
    }
  }

  /// Whether a child needs no look, as far as the distance of the parent's centre tells.
  bool is_far(double distance, const engine::CoverNode& child) const {
    const double centre = rounding_.apart(distance, child.to_parent);
    return collector_.passes_over(rounding_.nearest(centre, child.reach), child.lowest);
  }

  void visit_leaf(const Pending& at, const engine::CoverNode& node) {
    if (tree_.is_uniform(at.node)) {
      for (std::uint32_t i = node.first; i < node.first + node.count; ++i) {
        if (!collector_.take(at.value, tree_.tree().order[i])) return;  // later ones have higher numbers
      }
      return;
    }
    const auto [first, end] = within_reach(at.distance, node);
    scan(first, end - first);
  }

  /// The objects of a leaf that are not too near to its centre, nor too far from it: a `reach` less or more than the
  /// query is, and a little beyond, as `apart` allows for rounding. Doubles lose far less than it allows.
  std::pair<std::uint32_t, std::uint32_t> within_reach(double distance, const engine::CoverNode& node) const {
    const double* distances = tree_.tree().distances.data() + node.first;
    const double reach = collector_.reach();
    const double slack =
        4 * rounding_.relative * (2 * distance + reach) * 1.01 + 5 * rounding_.absolute + 1e-14 * (distance + reach);
    const double least = distance - reach - slack, most = distance + reach + slack;
    std::uint32_t first = 0, end = node.count;
    if (node.reach > std::numeric_limits<double>::max()) return {node.first, node.first + end};  // distances overflow
    if (node.count <= kFew) {
      end = 0;
      for (std::uint32_t i = 0; i < node.count; ++i) {
        first += distances[i] < least ? 1 : 0;
        end += distances[i] > most ? 0 : 1;
      }
    } else {
      first = static_cast<std::uint32_t>(std::lower_bound(distances, distances + end, least) - distances);
      end = static_cast<std::uint32_t>(std::upper_bound(distances + first, distances + end, most) - distances);
    }
    return {node.first + first, node.first + std::max(first, end)};
  }

  void scan(std::uint32_t first, std::uint32_t count) {
    const std::uint32_t* order = tree_.tree().order.data();
    while (count > 0) {
      const std::uint32_t some = std::min(count, kMostAtATime);
      const Value limit = collector_.limit();
      measure(tree_.objects(), first, some, limit);
      for (std::uint32_t i = 0; i < some; ++i) {
        if (values_[i] <= limit) collector_.take(values_[i], order[first + i]);
      }
      first += some;
      count -= some;
    }
  }

  static constexpr std::uint32_t kGap = 8;
  static constexpr std::uint32_t kFew = 64;  ///< distances that are counted sooner than searched

  const PreparedTree<S>& tree_;
  core::CoverRounding rounding_;
  typename S::Query& query_;
  std::vector<Pending>& pending_;
  std::vector<PendingGroup>& groups_;
  const Value* first_values_;
  Collector& collector_;
  std::uint64_t evaluations_ = 0;
  Value values_[kMostAtATime];
};

}  // namespace kith::cpu
