// The nodes of a cover tree of any objects: who is whose parent, at which level, and which objects share a node.
#pragma once

#include <kith/cover_tree/metric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::inline v0::cover_tree {

/// Where a node lies in the store. Slots of removed objects are used again; numbers of objects are not.
using Slot = std::uint32_t;
inline constexpr Slot kNone = std::numeric_limits<Slot>::max();

/// 2^level; 0 below the smallest number, infinity above the largest.
inline double radius_of(std::int32_t level) {
  if (level < -1022 || level > 1023) return std::ldexp(1.0, level);
  return std::bit_cast<double>(static_cast<std::uint64_t>(level + 1023) << 52);
}

/// The highest level whose radius is below the distance, which is positive.
inline std::int32_t level_below(double distance) {
  if (std::isinf(distance)) return 1023;
  int exponent = 0;
  const double fraction = std::frexp(distance, &exponent);  // in [0.5, 1), times 2^exponent
  return fraction == 0.5 ? exponent - 2 : exponent - 1;
}

/// What a node keeps of a child, side by side with its siblings: most are dismissed without a look at the object.
struct Child {
  double to_parent;  // as the metric gives it for (child, parent)
  double reach;      // not below any computed distance of the child to an object below it
  Id lowest;         // not above the number of any object in the subtree
  Slot slot;
  std::int32_t level;  // that of the child
};

/// An object of the tree. Most are nodes; one at distance 0 from a node is its twin and hangs in a list there.
enum class Role : std::uint8_t { node, same, near };

template <typename Object>
struct Node {
  std::optional<Object> object;
  std::vector<Child> children;
  Id id = 0;
  Slot parent = kNone;  // of a twin: its node
  std::int32_t level = 0;
  Slot next = kNone, previous = kNone;         // in a list of twins, or next among the free
  Slot first_same = kNone, last_same = kNone;  // twins that have the node's distances, by ascending number
  Slot first_near = kNone;                     // twins that must be measured themselves
  Role role = Role::node;
};

template <typename Object>
class Store {
 public:
  Store() = default;
  Store(const Store&) = default;
  Store(Store&& other) noexcept { swap(other); }
  Store& operator=(Store other) noexcept {
    swap(other);
    return *this;
  }
  void swap(Store& other) noexcept {
    nodes_.swap(other.nodes_);
    slots_.swap(other.slots_);
    std::swap(root, other.root);
    std::swap(root_reach, other.root_reach);
    std::swap(free_, other.free_);
  }

  std::size_t size() const { return slots_.size(); }
  Node<Object>& operator[](Slot slot) { return nodes_[slot]; }
  const Node<Object>& operator[](Slot slot) const { return nodes_[slot]; }
  const Object& object(Slot slot) const { return *nodes_[slot].object; }
  const std::unordered_map<Id, Slot>& slots() const { return slots_; }
  Slot find(Id id) const {
    const auto found = slots_.find(id);
    return found == slots_.end() ? kNone : found->second;
  }

  /// Keeps an object that is in no list yet. Nothing has changed if it throws.
  Slot add(Object object, Id id) {
    if (free_ == kNone) {
      if (nodes_.size() == kNone) throw UsageError("cover tree: at most 2^32 - 1 objects fit");
      nodes_.emplace_back().next = free_;
      free_ = static_cast<Slot>(nodes_.size() - 1);
    }
    const Slot slot = free_;
    slots_.emplace(id, slot);
    try {
      nodes_[slot].object.emplace(std::move(object));
    } catch (...) {
      slots_.erase(id);
      throw;
    }
    free_ = nodes_[slot].next;
    nodes_[slot].next = kNone;
    nodes_[slot].id = id;
    return slot;
  }
  /// Forgets an object that is in no list any more.
  void release(Slot slot) {
    slots_.erase(nodes_[slot].id);
    std::destroy_at(&nodes_[slot]);
    std::construct_at(&nodes_[slot]);
    nodes_[slot].next = free_;
    free_ = slot;
  }

  /// Room for one more child, so that adopt does not throw.
  void reserve(Slot parent) {
    auto& children = nodes_[parent].children;
    if (children.size() == children.capacity()) children.reserve(std::max<std::size_t>(2, 2 * children.size()));
  }
  void adopt(Slot parent, const Child& child) noexcept {
    nodes_[parent].children.push_back(child);
    nodes_[child.slot].parent = parent;
    nodes_[child.slot].level = child.level;
    nodes_[child.slot].role = Role::node;
  }
  /// Takes a node out of its parent's children; its own stay with it.
  void drop(Slot slot) noexcept {
    const Slot parent = nodes_[slot].parent;
    auto& children = nodes_[parent].children;
    *child_of(parent, slot) = children.back();
    children.pop_back();
    nodes_[slot].parent = kNone;
    if (!children.empty()) return;
    if (parent == root) {
      root_reach = 0;
    } else if (nodes_[parent].parent != kNone) {
      child_of(nodes_[parent].parent, parent)->reach = 0;
    }
  }

  /// Hangs an object at distance 0 into the list of a node.
  void add_twin(Slot node, Slot twin, Role role) noexcept {
    nodes_[twin].parent = node;
    nodes_[twin].role = role;
    // New objects have the highest number, so that the walk ends where it begins.
    Slot before = role == Role::same ? nodes_[node].last_same : kNone;
    while (before != kNone && nodes_[before].id > nodes_[twin].id) before = nodes_[before].previous;
    Slot& first = role == Role::same ? nodes_[node].first_same : nodes_[node].first_near;
    Slot& link = before == kNone ? first : nodes_[before].next;
    nodes_[twin].previous = before;
    nodes_[twin].next = link;
    link = twin;
    if (nodes_[twin].next != kNone) {
      nodes_[nodes_[twin].next].previous = twin;
    } else if (role == Role::same) {
      nodes_[node].last_same = twin;
    }
  }
  void drop_twin(Slot twin) noexcept {
    Node<Object>& node = nodes_[nodes_[twin].parent];
    const Slot before = nodes_[twin].previous, after = nodes_[twin].next;
    Slot& first = nodes_[twin].role == Role::same ? node.first_same : node.first_near;
    (before == kNone ? first : nodes_[before].next) = after;
    if (after != kNone) {
      nodes_[after].previous = before;
    } else if (nodes_[twin].role == Role::same) {
      node.last_same = before;
    }
    nodes_[twin].next = nodes_[twin].previous = nodes_[twin].parent = kNone;
  }
  /// The first twin with the same distances takes the place of its node's object, which is forgotten.
  void replace_by_twin(Slot slot) {
    const Slot twin = nodes_[slot].first_same;
    drop_twin(twin);
    const Id removed = nodes_[slot].id, kept = nodes_[twin].id;
    nodes_[slot].object.emplace(std::move(*nodes_[twin].object));
    nodes_[slot].id = kept;
    nodes_[twin].id = removed;
    slots_.find(kept)->second = slot;
    release(twin);
  }

  Slot root = kNone;
  double root_reach = 0;  // as Child::reach

 private:
  Child* child_of(Slot parent, Slot slot) {
    auto& children = nodes_[parent].children;
    return &*std::find_if(children.begin(), children.end(), [slot](const Child& c) { return c.slot == slot; });
  }

  std::vector<Node<Object>> nodes_;
  std::unordered_map<Id, Slot> slots_;
  Slot free_ = kNone;
};

}  // namespace kith::inline v0::cover_tree
