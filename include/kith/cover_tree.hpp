// Nearest neighbours of anything that has a metric: a tree that grows and shrinks. Header-only, nothing to link.
#pragma once

#include <kith/cover_tree/attach.hpp>
#include <kith/cover_tree/check.hpp>
#include <kith/cover_tree/evacuate.hpp>
#include <kith/cover_tree/locate.hpp>
#include <kith/cover_tree/metric.hpp>
#include <kith/cover_tree/search.hpp>
#include <kith/cover_tree/store.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

namespace kith::inline v0 {

/// Objects of any type under any true metric (>= 0, symmetric, triangle inequality). Searches are exact: what a loop
/// over all objects with `metric(query, object)` finds, bit for bit.
///
/// A compressed cover tree. Each object is a node once, with a level and a parent:
/// - covering: it is within 2^(level + 1) of its parent, whose level is higher;
/// - separation: any two of level i or more are more than 2^i apart;
/// - objects at distance 0 from a node are its twins and share its place.
///
/// A value: copies are deep, a tree that was moved from is empty. Const calls may run on several threads at once, as
/// far as const calls of the metric may. A call that throws leaves the tree as it was.
template <typename Object, typename Metric = MemberDistance>
requires MetricOf<Metric, Object>
class CoverTree {
 public:
  using Id = std::uint64_t;
  /// What the metric returns.
  using Distance = cover_tree::ResultOf<Metric, Object>;

  /// Where an object is in the tree. A twin has its node as parent, and the level of that.
  struct Position {
    std::int32_t level = 0;
    std::optional<Id> parent;
    double to_parent = 0;
    bool is_twin = false;
  };

  /// An empty tree. Throws UsageError for a rounding below 0 or not finite, or a relative one above 1/16.
  explicit CoverTree(Metric metric = Metric(), MetricRounding rounding = MetricRounding::standard<Distance>())
      : meter_(std::in_place, std::move(metric), rounding) {}
  /// The objects of a range, numbered from 0.
  template <std::ranges::input_range Range>
  requires std::convertible_to<std::ranges::range_reference_t<Range>, Object>
  explicit CoverTree(Range&& objects, Metric metric = Metric(),
                     MetricRounding rounding = MetricRounding::standard<Distance>())
      : CoverTree(std::move(metric), rounding) {
    for (auto&& object : objects) insert(std::forward<decltype(object)>(object));
  }
  CoverTree(const CoverTree&) = default;
  CoverTree(CoverTree&& other) noexcept(std::is_nothrow_move_constructible_v<Metric>)
      : meter_(std::in_place, std::move(*other.meter_)), store_(std::move(other.store_)), next_id_(other.next_id_) {}
  CoverTree& operator=(const CoverTree& other) {
    if (this != &other) *this = CoverTree(other);
    return *this;
  }
  CoverTree& operator=(CoverTree&& other) noexcept(std::is_nothrow_move_constructible_v<Metric>) {
    if (this == &other) return *this;
    meter_.emplace(std::move(*other.meter_));
    store_ = std::move(other.store_);
    next_id_ = other.next_id_;
    return *this;
  }
  ~CoverTree() = default;

  /// Adds an object and returns its number: 0, 1, 2, ..., never one that was used before. It stays the same until the
  /// object is removed. About log n evaluations of the metric times a constant of the intrinsic dimension, and two for
  /// its symmetry. Throws BadData for a metric that gives NaN or less than 0, or that is not symmetric here.
  Id insert(Object object) {
    const Id id = next_id_;
    if (store_.root == cover_tree::kNone) {
      cover_tree::Measuring measuring(*meter_);
      measuring(object, id, object, id);  // throws for what has no distances
      store_.root = store_.add(std::move(object), id);
      store_.root_reach = 0;
    } else {
      const cover_tree::Place place = cover_tree::locate(store_, *meter_, object, id);
      require_symmetry(place, object, id);
      attach(place, std::move(object), id);
    }
    return next_id_++;
  }

  /// Removes an object; false if there is none of this number. Its children find new parents, on higher levels if they
  /// must. Throws BadData if the metric turns out to be none.
  bool remove(Id id) {
    const cover_tree::Slot slot = store_.find(id);
    if (slot == cover_tree::kNone) return false;
    if (store_[slot].role != cover_tree::Role::node) {
      store_.drop_twin(slot);
      store_.release(slot);
    } else if (store_[slot].first_same != cover_tree::kNone) {
      store_.replace_by_twin(slot);
    } else {
      cover_tree::Evacuation<Object, Metric>(store_, *meter_, slot).run();
      store_.release(slot);
    }
    return true;
  }

  std::size_t size() const { return store_.size(); }
  bool empty() const { return size() == 0; }
  bool contains(Id id) const { return store_.find(id) != cover_tree::kNone; }
  /// Throws UsageError if there is no such object. Valid until the tree changes.
  const Object& object(Id id) const { return store_.object(slot_of(id)); }
  /// All numbers, ascending.
  std::vector<Id> ids() const {
    std::vector<Id> all;
    all.reserve(size());
    for (const auto& [id, slot] : store_.slots()) all.push_back(id);
    std::sort(all.begin(), all.end());
    return all;
  }
  /// Throws UsageError if there is no such object.
  Position position(Id id) const {
    const auto& node = store_[slot_of(id)];
    if (node.role != cover_tree::Role::node) return {store_[node.parent].level, store_[node.parent].id, 0, true};
    if (node.parent == cover_tree::kNone) return {node.level, std::nullopt, 0, false};
    for (const cover_tree::Child& child : store_[node.parent].children) {
      if (store_[child.slot].id == id) return {node.level, store_[node.parent].id, child.to_parent, false};
    }
    return {};
  }

  /// The k nearest objects by (distance, id), or all if there are fewer. With `eps` each distance is at most (1 + eps)
  /// times that of the object that belongs there. Throws UsageError for eps below 0, BadData as insert does.
  std::vector<NearObject> knn(const Object& query, std::size_t k, double eps = 0) const {
    if (!(eps >= 0)) throw UsageError("cover tree: eps must be at least 0, not " + cover_tree::shortest_text(eps));
    return cover_tree::nearest(store_, *meter_, query, k, eps);
  }
  /// All objects whose distance is at most `r`, by (distance, id). Throws UsageError for r below 0, BadData as insert.
  std::vector<NearObject> radius(const Object& query, double r) const {
    require_radius(r);
    std::vector<NearObject> found;
    cover_tree::within(store_, *meter_, query, r, [&found](const NearObject& object) { found.push_back(object); });
    std::sort(found.begin(), found.end());
    return found;
  }
  /// How many these are.
  std::size_t count(const Object& query, double r) const {
    require_radius(r);
    std::size_t found = 0;
    cover_tree::within(store_, *meter_, query, r, [&found](const NearObject&) { ++found; });
    return found;
  }

  /// Checks all that must hold of the tree, globally, and of the metric: that it gives the same again, is 0 for an
  /// object and itself, symmetric, and keeps the triangle inequality for all pairs of nodes with the parent of the
  /// second. Says what is wrong first, with the objects and their distance; empty if nothing is. About 4 n^2
  /// evaluations.
  std::string check() const {
    try {
      return cover_tree::Checker<Object, Metric>(store_, *meter_).first_violation();
    } catch (const BadData& error) {
      return error.what();
    }
  }

  /// How often the metric was called since the tree was made, by all threads together.
  std::uint64_t evaluations() const { return meter_->evaluations(); }
  const Metric& metric() const { return meter_->metric(); }
  MetricRounding rounding() const { return meter_->bounds().rounding; }

 private:
  cover_tree::Slot slot_of(Id id) const {
    const cover_tree::Slot slot = store_.find(id);
    if (slot == cover_tree::kNone) {
      throw UsageError("cover tree: there is no object " + std::to_string(id) + "; it was removed or never inserted");
    }
    return slot;
  }
  static void require_radius(double r) {
    if (!(r >= 0)) {
      throw UsageError("cover tree: the radius must be at least 0, not " + cover_tree::shortest_text(r));
    }
  }

  // Looks at the parent, and at one of the other nodes that were measured.
  void require_symmetry(const cover_tree::Place& place, const Object& object, Id id) const {
    const std::uint32_t other =
        static_cast<std::uint32_t>(id * 0x9e3779b97f4a7c15u >> 32) % static_cast<std::uint32_t>(place.measured.size());
    for (const std::uint32_t i : {place.best, other}) {
      const auto& node = store_[place.measured[i].slot];
      const double there = place.measured[i].distance;
      const double back = cover_tree::Measuring(*meter_)(*node.object, node.id, object, id);
      if (meter_->bounds().same(there, back)) continue;
      throw BadData("cover tree: the metric is not symmetric: " + cover_tree::shortest_text(there) + " for " +
                    cover_tree::name_pair(id, node.id) + ", " + cover_tree::shortest_text(back) +
                    " the other way round; use one that is, or say how far it is rounded");
    }
  }

  void attach(const cover_tree::Place& place, Object object, Id id) {
    const cover_tree::Bounds& bounds = meter_->bounds();
    if (place.distance() == 0) {
      const cover_tree::Role role = cover_tree::role_of_twin(bounds, store_.object(place.slot()), object);
      cover_tree::attach_twin(store_, place, bounds, store_.add(std::move(object), id), role);
    } else {
      store_.reserve(place.slot());
      const cover_tree::Slot slot = store_.add(std::move(object), id);
      cover_tree::attach_child(store_, place, bounds,
                               {place.distance(), 0, id, slot, cover_tree::level_below(place.distance())});
    }
  }

  std::optional<cover_tree::Meter<Object, Metric>> meter_;  // never empty; makes metrics that cannot be assigned values
  cover_tree::Store<Object> store_;
  Id next_id_ = 0;
};

template <std::ranges::input_range Range, typename Metric = MemberDistance>
CoverTree(Range&&, Metric = Metric()) -> CoverTree<std::ranges::range_value_t<Range>, Metric>;
template <std::ranges::input_range Range, typename Metric>
CoverTree(Range&&, Metric, MetricRounding) -> CoverTree<std::ranges::range_value_t<Range>, Metric>;

}  // namespace kith::inline v0
