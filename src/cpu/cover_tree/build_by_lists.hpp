// Builds a cover tree of any space by lists of near and far objects, for comparison with build.hpp: the same tree for
// every number of threads, but other than that one.
#pragma once

#include "cpu/cover_tree/build.hpp"
#include "cpu/cover_tree/build_state.hpp"
#include "cpu/cover_tree/finish_tree.hpp"
#include "cpu/cover_tree/split_list.hpp"
#include "engine/cover_tree/cover_tree.hpp"
#include "runtime/parallel.hpp"
#include "runtime/progress_meter.hpp"
#include "runtime/time_spent.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::cpu {

/// Every centre has a list of its objects, and a level splits the lists that reach beyond its radius, each by itself
/// (`split_list.hpp`). So nesting and covering hold as in the other tree, but centres keep apart from those of the same
/// list only: two lists may put centres close to each other on both sides of the border between them.
///
/// Few long lists are measured by all threads, many short ones are split side by side.
template <Space S>
class ListBuilder {
 public:
  using Value = typename S::Value;

  ListBuilder(const S& space, const CoverBuildOptions& options)
      : space_(space),
        options_(options),
        meter_(options.run.progress, "building", space.size()),
        work_(options.work != nullptr ? *options.work : own_work_) {}

  engine::CoverTree build() {
    if (space_.size() > 0) {
      start();
      while (!open_.empty()) split_level();
      finish();
    }
    meter_.finish();
    if (options_.evaluations != nullptr) *options_.evaluations = work_.evaluations();
    return {options_.leaf_size,  engine::CoverSeparation::siblings,
            storage_->nodes,     storage_->order,
            storage_->distances, storage_};
  }

 private:
  /// objects_[first .. first + count), by the rank of their numbers.
  struct List {
    std::uint32_t centre = 0;
    std::uint32_t node = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    double largest = 0;
  };
  static constexpr std::uint32_t kLong = 1 << 14;
  static constexpr std::uint32_t kBlock = 1 << 12;

  void start() {
    const runtime::TimeSpent time(&work_.root.milliseconds);
    const std::uint32_t count = space_.size();
    objects_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) objects_[i].number = i;
    std::sort(objects_.begin(), objects_.end(), [](const ListedObject& a, const ListedObject& b) {
      return core::cover_rank(a.number) < core::cover_rank(b.number);
    });
    List root{.centre = objects_[0].number, .count = count};
    measure_from(root.centre);
    for (const ListedObject& object : objects_) root.largest = std::max(root.largest, object.distance);
    const bool is_level = root.largest > 0 && std::isfinite(root.largest);
    nodes_.push_back({.centre = root.centre, .level = is_level ? core::cover_level_below(root.largest) + 1 : 0});
    if (root.largest <= kFarthestTold<Value>) {
      resolve(root);
    } else {
      close(root);
    }
  }

  void measure_from(std::uint32_t centre) {
    const auto count = static_cast<std::uint32_t>(objects_.size());
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t i = 0; i < count; ++i) numbers[i] = objects_[i].number;
    const typename S::Rows rows = space_.arrange(numbers, options_.run.threads);
    runtime::parallel_for((count + kBlock - 1) / kBlock, {.threads = options_.run.threads}, [&](std::uint64_t block) {
      typename S::Query query;
      space_.ask(query, centre);
      const auto first = static_cast<std::uint32_t>(block * kBlock);
      std::vector<Value> values(std::min(kBlock, count - first));
      rows.measure(query, first, static_cast<std::uint32_t>(values.size()), std::numeric_limits<Value>::infinity(),
                   values.data());
      for (std::uint32_t i = 0; i < values.size(); ++i) objects_[first + i].distance = space_.metric(values[i]);
    });
    objects_[0].distance = 0;
    work_.root.evaluations += count;
  }

  void split_level() {
    const runtime::TimeSpent time(&work_.centres.milliseconds);
    double largest = 0;
    for (const List& list : open_) largest = std::max(largest, list.largest);
    const std::int32_t level = core::cover_level_below(largest);
    const double radius = core::cover_radius(level);
    std::vector<List> splits;
    for (const List& list : std::exchange(open_, {})) (list.largest > radius ? splits : open_).push_back(list);
    const std::vector<std::vector<ListChild>> children = children_of(splits, radius);
    for (std::size_t i = 0; i < splits.size(); ++i) {  // by the number of the node, as open lists are
      if (children[i].empty()) {
        close(splits[i]);
      } else {
        add_nodes(splits[i], children[i], level);
      }
    }
    meter_.report(closed_objects_);
  }

  std::vector<std::vector<ListChild>> children_of(const std::vector<List>& splits, double radius) {
    const Value within = value_within(space_, radius);
    const auto objects_of = [&](const List& list) { return std::span(objects_).subspan(list.first, list.count); };
    std::vector<std::vector<ListChild>> children(splits.size());
    std::vector<std::uint32_t> short_ones;
    for (std::uint32_t i = 0; i < splits.size(); ++i) {
      if (splits[i].count < kLong) {
        short_ones.push_back(i);
        continue;
      }
      children[i] = ListSplit<S>(space_, radius, within, work_, runtime::resolve_threads(options_.run.threads), [this] {
                      meter_.report(closed_objects_);
                    }).run(splits[i].centre, objects_of(splits[i]));
    }
    runtime::parallel_for(short_ones.size(), {.threads = options_.run.threads}, [&](std::uint64_t task) {
      const std::uint32_t i = short_ones[task];
      children[i] = ListSplit<S>(space_, radius, within, work_, 1).run(splits[i].centre, objects_of(splits[i]));
    });
    return children;
  }

  void add_nodes(const List& parent, const std::vector<ListChild>& children, std::int32_t level) {
    nodes_[parent.node].first_child = static_cast<std::uint32_t>(nodes_.size());
    nodes_[parent.node].children = static_cast<std::uint32_t>(children.size());
    std::uint32_t first = parent.first;
    for (const ListChild& child : children) {
      const auto node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({.to_parent = child.to_parent, .centre = child.centre, .parent = parent.node, .level = level});
      resolve({.centre = child.centre, .node = node, .first = first, .count = child.count, .largest = child.largest});
      first += child.count;
    }
  }

  /// A list that is long and not of duplicates waits for its level, any other is a leaf.
  void resolve(const List& list) {
    if (list.count > options_.leaf_size && list.largest > 64 * space_.rounding().absolute) {
      open_.push_back(list);
    } else {
      close(list);
    }
  }

  void close(const List& list) {
    leaves_.leaves.push_back({.node = list.node, .count = list.count, .first = list.first});
    closed_objects_ += list.count;
  }

  void finish() {
    const runtime::TimeSpent time(&work_.reach.milliseconds);
    leaves_.objects.reserve(objects_.size());
    leaves_.distances.reserve(objects_.size());
    for (const ListedObject& object : objects_) {
      leaves_.objects.push_back(object.number);
      leaves_.distances.push_back(object.distance);
    }
    storage_->nodes = std::move(nodes_);
    for (engine::CoverNode& node : storage_->nodes) node.lowest = kNone;
    set_ranges(storage_->nodes, leaves_);
    set_leaves(*storage_, leaves_, options_.run.threads);
    FarthestObjects<S>(space_, *storage_, work_, options_.run.threads).run();
  }

  const S& space_;
  const CoverBuildOptions& options_;
  runtime::ProgressMeter meter_;
  CoverWork own_work_;
  CoverWork& work_;
  std::vector<ListedObject> objects_;  ///< list after list
  std::vector<List> open_;             ///< by the number of the node
  std::vector<engine::CoverNode> nodes_;
  CoverLeaves leaves_;
  std::uint64_t closed_objects_ = 0;
  std::shared_ptr<CoverStorage> storage_ = std::make_shared<CoverStorage>();
};

/// Throws Interrupted when the progress callback says stop, std::bad_alloc.
template <Space S>
engine::CoverTree build_cover_tree_by_lists(const S& space, const CoverBuildOptions& options = {}) {
  return ListBuilder<S>(space, options).build();
}

}  // namespace kith::cpu
