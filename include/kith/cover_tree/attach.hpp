// Objects and subtrees hung into the places that were found for them.
#pragma once

#include <kith/cover_tree/locate.hpp>
#include <kith/cover_tree/metric.hpp>
#include <kith/cover_tree/store.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace kith::inline v0::cover_tree {

/// A twin has its node's distances if the metric is exact, by the triangle inequality, or if both are the same object.
template <typename Object>
Role role_of_twin(const Bounds& bounds, const Object& node, const Object& twin) {
  if (bounds.rounding.is_exact()) return Role::same;
  if constexpr (std::equality_comparable<Object>) {
    if (node == twin) return Role::same;
  }
  return Role::near;
}

/// Tells the nodes from a place up to the root of a new subtree there: its reach, and its lowest number. A single
/// object is as far as it was measured.
template <typename Object>
void extend_reach(Store<Object>& store, const Place& place, const Bounds& bounds, bool single, double reach,
                  Id lowest) noexcept {
  for (std::uint32_t at = place.best;; at = place.measured[at].up) {
    const Measured& seen = place.measured[at];
    const double far = single ? seen.distance : bounds.upper(seen.distance, reach);
    if (at == 0) {
      store.root_reach = std::max(store.root_reach, far);
      return;
    }
    Child& child = store[place.measured[seen.up].slot].children[seen.child];
    child.reach = std::max(child.reach, far);
    child.lowest = std::min(child.lowest, lowest);
  }
}

/// Hangs an object at distance 0 from its place there.
template <typename Object>
void attach_twin(Store<Object>& store, const Place& place, const Bounds& bounds, Slot twin, Role role) noexcept {
  store.add_twin(place.slot(), twin, role);
  extend_reach(store, place, bounds, true, 0, store[twin].id);
}

/// Hangs a node, with all that is below it, into its place, where there must be room.
template <typename Object>
void attach_child(Store<Object>& store, const Place& place, const Bounds& bounds, const Child& child) noexcept {
  const bool single = store[child.slot].children.empty() && store[child.slot].first_near == kNone;
  store.adopt(place.slot(), child);
  auto& parent = store[place.slot()];
  if (parent.level <= child.level) parent.level = child.level + 1;  // only the root holds what is outside its ball
  extend_reach(store, place, bounds, single, child.reach, child.lowest);
}

}  // namespace kith::inline v0::cover_tree
