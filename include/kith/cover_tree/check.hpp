// Everything that must hold of a cover tree and of its metric, looked at one by one.
#pragma once

#include <kith/cover_tree/metric.hpp>
#include <kith/cover_tree/store.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::inline v0::cover_tree {

inline std::string shortest_text(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

template <typename Object, typename Metric>
class Checker {
 public:
  Checker(const Store<Object>& store, const Meter<Object, Metric>& meter)
      : store_(store), measuring_(meter), bounds_(meter.bounds()) {}

  /// What is wrong first, or nothing.
  std::string first_violation() {
    std::string wrong = check_links();
    for (std::size_t i = 0; wrong.empty() && i < slots_.size(); ++i) wrong = check_node(slots_[i]);
    for (std::size_t i = 0; wrong.empty() && i < slots_.size(); ++i) wrong = check_pairs(i);
    return wrong;
  }

 private:
  Id id(Slot slot) const { return store_[slot].id; }
  std::string name(Slot slot) const { return "object " + std::to_string(id(slot)); }
  std::string with_level(Slot slot) const { return name(slot) + " (level " + std::to_string(store_[slot].level) + ")"; }
  double measure(Slot a, Slot b) { return measuring_(store_.object(a), id(a), store_.object(b), id(b)); }

  // Every object is reached from the root once, by links that agree both ways. Lists the nodes by ascending number.
  std::string check_links() {
    std::size_t twins = 0;
    if (store_.root != kNone) {
      if (store_[store_.root].parent != kNone) return "links: the root, " + name(store_.root) + ", has a parent";
      slots_.push_back(store_.root);
    }
    for (std::size_t i = 0; i < slots_.size() && slots_.size() <= store_.size(); ++i) {
      const Slot slot = slots_[i];
      if (store_.find(id(slot)) != slot) return "links: " + name(slot) + " is not found by its number";
      for (const Child& child : store_[slot].children) {
        const Node<Object>& node = store_[child.slot];
        if (node.parent != slot || node.role != Role::node || node.level != child.level) {
          return "links: " + name(slot) + " and its child " + std::to_string(node.id) + " do not agree";
        }
        slots_.push_back(child.slot);
      }
      for (const Slot first : std::array{store_[slot].first_same, store_[slot].first_near}) {
        Slot before = kNone;
        for (Slot twin = first; twin != kNone; before = twin, twin = store_[twin].next) {
          const Node<Object>& node = store_[twin];
          const bool same = first == store_[slot].first_same;
          if (node.parent != slot || node.previous != before || (node.role == Role::same) != same ||
              store_.find(node.id) != twin || (same && before != kNone && id(before) >= node.id)) {
            return "links: " + name(slot) + " and its twin " + std::to_string(node.id) + " do not agree";
          }
          if (++twins > store_.size()) return "links: the twins of " + name(slot) + " run in a circle";
        }
      }
    }
    if (slots_.size() + twins != store_.size()) {
      return "links: " + std::to_string(store_.size()) + " objects, but the root leads to " +
             std::to_string(slots_.size() + twins);
    }
    std::sort(slots_.begin(), slots_.end(), [this](Slot a, Slot b) { return id(a) < id(b); });
    return {};
  }

  // Covering, twins, and what the node keeps of its children.
  std::string check_node(Slot slot) {
    const double self = measure(slot, slot);
    if (self > bounds_.rounding.absolute) {
      return "metric: " + name(slot) + " is " + shortest_text(self) + " from itself";
    }
    for (const Child& child : store_[slot].children) {
      const double distance = measure(child.slot, slot);
      const std::string pair =
          with_level(child.slot) + " is " + shortest_text(distance) + " from its parent, " + with_level(slot);
      if (distance != child.to_parent) {
        return "metric: " + pair + ", but was " + shortest_text(child.to_parent) + " when it was put there";
      }
      if (child.level >= store_[slot].level) return "covering: " + pair + ", which is not higher";
      if (distance > radius_of(child.level + 1)) {
        return "covering: " + pair + ", more than 2^" + std::to_string(child.level + 1);
      }
      if (child.lowest > id(child.slot)) return "bounds: " + name(child.slot) + " has a lower number than it says";
    }
    for (const Slot first : std::array{store_[slot].first_same, store_[slot].first_near}) {
      for (Slot twin = first; twin != kNone; twin = store_[twin].next) {
        const double distance = measure(twin, slot);
        if (distance != 0) {
          return "twins: " + name(twin) + " is " + shortest_text(distance) + " from its twin, " + name(slot);
        }
        const std::string wrong = check_above(twin, slot);
        if (!wrong.empty()) return wrong;
      }
    }
    return check_above(slot, slot);
  }

  // All nodes above know how far an object is, and that it is below them.
  std::string check_above(Slot object, Slot node) {
    for (Slot at = node; at != kNone; at = store_[at].parent) {
      double reach = store_.root_reach;
      Id lowest = 0;
      if (at != store_.root) {
        const auto& siblings = store_[store_[at].parent].children;
        const auto here =
            std::find_if(siblings.begin(), siblings.end(), [at](const Child& child) { return child.slot == at; });
        reach = here->reach;
        lowest = here->lowest;
      }
      if (lowest > id(object)) return "bounds: " + name(at) + " does not know of the number of " + name(object);
      if (object == at) continue;
      const double distance = measure(object, at);
      if (distance > reach) {
        return "bounds: " + name(object) + " is " + shortest_text(distance) + " from " + with_level(at) +
               " above it, which reaches " + shortest_text(reach);
      }
    }
    return {};
  }

  // Separation and symmetry of one node with all after it, and the triangle inequality of both with parents.
  std::string check_pairs(std::size_t first) {
    const Slot a = slots_[first];
    for (std::size_t i = first + 1; i < slots_.size(); ++i) {
      const Slot b = slots_[i];
      const double distance = measure(a, b);
      const std::int32_t level = std::min(store_[a].level, store_[b].level);
      const double back = measure(b, a);
      if (!bounds_.same(distance, back)) {
        return "metric: not symmetric, " + shortest_text(distance) + " for " + name_pair(id(a), id(b)) + ", " +
               shortest_text(back) + " the other way round";
      }
      if (!(std::max(distance, back) > radius_of(level))) {
        return "separation: " + with_level(a) + " and " + with_level(b) + " are " + shortest_text(distance) +
               " apart, not more than 2^" + std::to_string(level);
      }
      const Slot parent = store_[b].parent;
      if (parent == kNone || parent == a) continue;
      const double sides[] = {distance, measure(a, parent), measure(b, parent)};
      const double longest = *std::max_element(sides, sides + 3);
      const double others = sides[0] + sides[1] + sides[2] - longest;
      if (bounds_.lower(longest, others) > 0) {
        return "metric: the triangle inequality fails for objects " + std::to_string(id(a)) + ", " +
               std::to_string(id(b)) + " and " + std::to_string(id(parent)) + ", which are " + shortest_text(sides[0]) +
               ", " + shortest_text(sides[1]) + " and " + shortest_text(sides[2]) + " apart";
      }
    }
    return {};
  }

  const Store<Object>& store_;
  Measuring<Object, Metric> measuring_;
  const Bounds& bounds_;
  std::vector<Slot> slots_;
};

}  // namespace kith::inline v0::cover_tree
