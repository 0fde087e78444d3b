// A node is emptied before it goes: its children and twins find other places, or all stay where they were.
//
// Children are placed by descending level. A node that is placed sees all nodes of a higher level, because those not
// yet placed, and all below them, are not higher; so the place that `locate` finds is right for the whole tree, and the
// level it gives is not below the old one.
#pragma once

#include <kith/cover_tree/attach.hpp>
#include <kith/cover_tree/locate.hpp>
#include <kith/cover_tree/metric.hpp>
#include <kith/cover_tree/store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::inline v0::cover_tree {

template <typename Object, typename Metric>
class Evacuation {
 public:
  Evacuation(Store<Object>& store, const Meter<Object, Metric>& meter, Slot node)
      : store_(store), meter_(meter), node_(node), root_reach_(store.root_reach), children_(store[node].children) {
    std::sort(children_.begin(), children_.end(), [&store](const Child& a, const Child& b) {
      return a.level != b.level ? a.level > b.level : store[a.slot].id < store[b.slot].id;
    });
    for (Slot twin = store[node].first_near; twin != kNone; twin = store[twin].next) twins_.push_back(twin);
    std::sort(twins_.begin(), twins_.end(), [&store](Slot a, Slot b) { return store[a].id < store[b].id; });
  }

  /// Afterwards the node is in no list. If it throws, nothing has changed. Once only.
  void run() {
    for (const Slot twin : twins_) store_.drop_twin(twin);
    try {
      if (was_root()) crown();
      for (; children_done_ < children_.size(); ++children_done_) place_child(children_[children_done_]);
      for (; twins_done_ < twins_.size(); ++twins_done_) place_twin(twins_[twins_done_]);
    } catch (...) {
      undo();
      throw;
    }
    if (!was_root()) store_.drop(node_);
  }

 private:
  bool was_root() const { return store_[node_].parent == kNone; }

  // The highest child is the new root, or else a twin.
  void crown() {
    store_.root = kNone;
    store_.root_reach = 0;
    if (!children_.empty()) {
      store_.root = children_[children_done_++].slot;
      store_.root_reach = children_[0].reach;
      store_[store_.root].parent = kNone;
    } else if (!twins_.empty()) {
      store_.root = twins_[twins_done_++];
      store_[store_.root].role = Role::node;
      store_[store_.root].level = store_[node_].level;
    }
  }

  void place_child(Child child) {
    const Node<Object>& node = store_[child.slot];
    const Place place = locate(store_, meter_, *node.object, node.id, node_);
    const std::int32_t level = place.distance() == 0 ? child.level - 1 : level_below(place.distance());
    if (level < child.level) {
      throw BadData("cover tree: " + name_pair(node.id, store_[place.slot()].id) +
                    " are too near each other for where they were put; the metric breaks the triangle inequality, is "
                    "rounded more than it says, or gives another distance than before");
    }
    child.to_parent = place.distance();
    child.level = level;
    store_.reserve(place.slot());
    attach_child(store_, place, meter_.bounds(), child);
  }

  void place_twin(Slot twin) {
    const Node<Object>& node = store_[twin];
    const Place place = locate(store_, meter_, *node.object, node.id, node_);
    if (place.distance() == 0) {
      const Role role = role_of_twin(meter_.bounds(), store_.object(place.slot()), *node.object);
      attach_twin(store_, place, meter_.bounds(), twin, role);
    } else {
      store_.reserve(place.slot());
      attach_child(store_, place, meter_.bounds(), {place.distance(), 0, node.id, twin, level_below(place.distance())});
    }
  }

  void undo() noexcept {
    while (twins_done_ > 0) {
      const Slot twin = twins_[--twins_done_];
      if (store_[twin].role != Role::node) {
        store_.drop_twin(twin);
      } else if (twin != store_.root) {
        store_.drop(twin);
      }
    }
    for (const Slot twin : twins_) store_.add_twin(node_, twin, Role::near);
    while (children_done_ > 0) {
      const Child& child = children_[--children_done_];
      if (child.slot != store_.root) store_.drop(child.slot);
      store_[child.slot].parent = node_;
      store_[child.slot].level = child.level;
    }
    if (was_root()) {
      store_.root = node_;
      store_.root_reach = root_reach_;
    }
  }

  Store<Object>& store_;
  const Meter<Object, Metric>& meter_;
  const Slot node_;
  const double root_reach_;
  std::vector<Child> children_;
  std::vector<Slot> twins_;
  std::size_t children_done_ = 0, twins_done_ = 0;
};

}  // namespace kith::inline v0::cover_tree
