// Where a new object belongs in a cover tree: at the nearest node whose ball holds it.
//
// An object may have the level l if no object of a level >= i is within 2^i of it for any i <= l, and needs a parent of
// a level >= l + 1 within 2^(l + 1). Both hold for one level only: with d the least distance to a node of level >= i
// within 2^i, i any, it is the one with 2^l < d <= 2^(l + 1), and that node is the parent. So placing is a search for
// the nearest node among those whose own ball, of radius 2^level, holds the object.
#pragma once

#include <kith/cover_tree/metric.hpp>
#include <kith/cover_tree/store.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::inline v0::cover_tree {

/// A node whose distance is known, and how the walk came to it.
struct Measured {
  double distance;
  Slot slot;
  std::uint32_t up;     // the parent's place in the list
  std::uint32_t child;  // which of its children
};

/// All nodes that were measured, the root first, and the one that is to be the parent, or at distance 0.
struct Place {
  std::vector<Measured> measured;
  std::uint32_t best = 0;

  Slot slot() const { return measured[best].slot; }
  double distance() const { return measured[best].distance; }
};

/// A subtree that may be looked at.
struct Open {
  double bound;         // not above the distance of anyone in it
  double distance;      // of its root, if that is measured
  const Child* child;   // its root, if that is not measured yet
  std::uint32_t which;  // its root's slot or place in a list; of one not measured, the parent's
};

/// Subtrees by ascending bound. Those that may hold the object itself are looked at in any case, so in any order.
class Frontier {
 public:
  Frontier() {
    certain_.reserve(64);
    heap_.reserve(64);
  }
  bool empty() const { return certain_.empty() && heap_.empty(); }
  void push(const Open& open) {
    if (open.bound <= 0) {
      certain_.push_back(open);
    } else {
      heap_.push_back(open);
      std::push_heap(heap_.begin(), heap_.end(), after);
    }
  }
  Open pop() {
    std::vector<Open>& from = certain_.empty() ? heap_ : certain_;
    if (certain_.empty()) std::pop_heap(heap_.begin(), heap_.end(), after);
    const Open open = from.back();
    from.pop_back();
    return open;
  }
  /// Whether none that waits comes before one with this bound.
  bool is_next(double bound) const { return certain_.empty() && (heap_.empty() || bound <= heap_.front().bound); }

 private:
  static bool after(const Open& a, const Open& b) { return a.bound > b.bound; }
  std::vector<Open> certain_, heap_;
};

/// The place of an object in a tree that is not empty. The node `hidden` and what is below it are not looked at.
template <typename Object, typename Metric>
Place locate(const Store<Object>& store, const Meter<Object, Metric>& meter, const Object& object, Id id,
             Slot hidden = kNone) {
  Measuring measuring(meter);
  const Bounds& bounds = meter.bounds();
  Place place;
  place.measured.reserve(64);
  Frontier frontier;

  // The root holds everything: its level is raised if need be.
  double best = measuring(object, id, store.object(store.root), store[store.root].id);
  place.measured.push_back({best, store.root, 0, 0});
  if (best == 0) return place;
  frontier.push({bounds.lower(best, store.root_reach), best, nullptr, 0});
  while (!frontier.empty()) {
    const Open top = frontier.pop();
    if (top.bound > best) break;
    const auto& children = store[place.measured[top.which].slot].children;
    for (std::uint32_t i = 0; i < children.size(); ++i) {
      const Child& child = children[i];
      const double radius = std::min(best, radius_of(child.level));  // no ball in the subtree is larger
      if (child.slot == hidden || bounds.lower(top.distance, child.to_parent, child.reach) > radius) continue;
      const Node<Object>& node = store[child.slot];
      const double distance = measuring(object, id, *node.object, node.id);
      const auto here = static_cast<std::uint32_t>(place.measured.size());
      place.measured.push_back({distance, child.slot, top.which, i});
      if (distance <= radius && distance < best) {
        best = distance;
        place.best = here;
        if (best == 0) return place;
      }
      if (node.children.empty()) continue;
      const double bound = bounds.lower(distance, child.reach);
      if (bound <= std::min(best, radius_of(child.level - 1))) frontier.push({bound, distance, nullptr, here});
    }
  }
  return place;
}

}  // namespace kith::inline v0::cover_tree
