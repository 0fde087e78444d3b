// Searches in a cover tree of any objects: the k nearest, and all within a radius.
#pragma once

#include <kith/cover_tree/locate.hpp>
#include <kith/cover_tree/metric.hpp>
#include <kith/cover_tree/store.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace kith::inline v0 {

/// An object that was found. Ordered by (distance, id).
struct NearObject {
  double distance = 0;
  std::uint64_t id = 0;
  friend auto operator<=>(const NearObject&, const NearObject&) = default;
};

namespace cover_tree {

/// The k least of what is offered.
class NearestObjects {
 public:
  NearestObjects(std::size_t k, double eps) : k_(k), stretch_(1 + eps) {}

  /// False if this one, and so every other at the same distance with a higher number, is too far.
  bool offer(const NearObject& found) {
    if (heap_.size() == k_) {
      if (!(found < heap_.front())) return false;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.back() = found;
    } else {
      heap_.push_back(found);
    }
    std::push_heap(heap_.begin(), heap_.end());
    if (heap_.size() == k_) limit_ = heap_.front().distance / stretch_;
    return true;
  }
  /// Whether no object is wanted that is at least `bound` away and not numbered below `lowest`.
  bool dismiss(double bound, Id lowest) const {
    if (bound > limit_) return true;
    return heap_.size() == k_ && bound >= heap_.front().distance && lowest > heap_.front().id;
  }
  /// Whether no object is wanted that is at least `bound` away.
  bool dismiss(double bound) const { return bound > limit_; }

  std::vector<NearObject> sorted() && {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  std::size_t k_;
  double stretch_;
  double limit_ = std::numeric_limits<double>::infinity();
  std::vector<NearObject> heap_;
};

/// Gives a node and its twins to `offer`, which says whether it wants more of the same distance.
template <typename Object, typename Measure, typename Offer>
void offer_node(const Store<Object>& store, Measure& measuring, const Object& query, Slot slot, double distance,
                Offer&& offer) {
  const Node<Object>& node = store[slot];
  offer(NearObject{distance, node.id});
  for (Slot twin = node.first_same; twin != kNone; twin = store[twin].next) {
    if (!offer(NearObject{distance, store[twin].id})) break;
  }
  for (Slot twin = node.first_near; twin != kNone; twin = store[twin].next) {
    offer(NearObject{measuring(query, kQuery, store.object(twin), store[twin].id), store[twin].id});
  }
}

/// A child is measured only when no other subtree has a lower bound: half the evaluations, and metrics may be slow.
template <typename Object, typename Metric>
std::vector<NearObject> nearest(const Store<Object>& store, const Meter<Object, Metric>& meter, const Object& query,
                                std::size_t k, double eps) {
  if (k == 0 || store.root == kNone) return {};
  Measuring measuring(meter);
  const Bounds& bounds = meter.bounds();
  NearestObjects found(k, eps);
  const auto offer = [&found](const NearObject& object) { return found.offer(object); };
  Frontier frontier;

  const double to_root = measuring(query, kQuery, store.object(store.root), store[store.root].id);
  offer_node(store, measuring, query, store.root, to_root, offer);
  frontier.push({bounds.lower(to_root, store.root_reach), to_root, nullptr, store.root});
  while (!frontier.empty()) {
    Open top = frontier.pop();
    if (found.dismiss(top.bound)) break;
    if (top.child != nullptr) {
      const Child& child = *top.child;
      if (found.dismiss(top.bound, child.lowest)) continue;
      const Node<Object>& node = store[child.slot];
      const double distance = measuring(query, kQuery, *node.object, node.id);
      offer_node(store, measuring, query, child.slot, distance, offer);
      if (node.children.empty()) continue;
      const double bound = bounds.lower(distance, child.reach);
      if (found.dismiss(bound, child.lowest)) continue;
      top = {bound, distance, nullptr, child.slot};
      if (bound > 0 && !frontier.is_next(bound)) {
        frontier.push(top);
        continue;
      }
    }
    for (const Child& child : store[top.which].children) {
      const double bound = bounds.lower(top.distance, child.to_parent, child.reach);
      if (!found.dismiss(bound, child.lowest)) frontier.push({bound, 0, &child, top.which});
    }
  }
  return std::move(found).sorted();
}

/// Gives everyone within the radius to `visit`, in no order.
template <typename Object, typename Metric, typename Visit>
void within(const Store<Object>& store, const Meter<Object, Metric>& meter, const Object& query, double radius,
            Visit&& visit) {
  if (store.root == kNone) return;
  Measuring measuring(meter);
  const Bounds& bounds = meter.bounds();
  const auto offer = [&](const NearObject& object) {
    if (object.distance <= radius) visit(object);
    return object.distance <= radius;
  };
  std::vector<std::pair<double, Slot>> open;  // nodes within reach, and their distances
  const double to_root = measuring(query, kQuery, store.object(store.root), store[store.root].id);
  offer_node(store, measuring, query, store.root, to_root, offer);
  if (!(bounds.lower(to_root, store.root_reach) > radius)) open.emplace_back(to_root, store.root);
  while (!open.empty()) {
    const auto [to_node, slot] = open.back();
    open.pop_back();
    for (const Child& child : store[slot].children) {
      if (bounds.lower(to_node, child.to_parent, child.reach) > radius) continue;
      const Node<Object>& node = store[child.slot];
      const double distance = measuring(query, kQuery, *node.object, node.id);
      offer_node(store, measuring, query, child.slot, distance, offer);
      if (!node.children.empty() && !(bounds.lower(distance, child.reach) > radius)) {
        open.emplace_back(distance, child.slot);
      }
    }
  }
}

}  // namespace cover_tree
}  // namespace kith::inline v0
