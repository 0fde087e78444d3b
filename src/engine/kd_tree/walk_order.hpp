// The order in which an approximate search walks the tree. It is part of the answer, so every device keeps to it.
//
// Of two children the one with the lower (bound, number) comes first. A budget of up to kMostQueued leaves takes the
// nodes in the order of (bound, number) from a queue with two ends: it holds no more nodes than there are leaves left
// to visit, and the farthest falls out. Without a budget, or with a larger one, the walk goes depth first.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::engine {

/// Nodes that the queue of a budgeted walk holds at most.
inline constexpr std::uint32_t kMostQueued = 256;

/// Whether a budget of leaves takes nodes from the queue; 0: no budget.
inline constexpr bool takes_queue(std::uint32_t max_leaves) { return max_leaves != 0 && max_leaves <= kMostQueued; }

/// A node and a lower bound of the reduced distance to every point inside.
template <typename T, typename Number = std::uint64_t>
struct BoundedNode {
  T bound;
  Number node;

  KITH_HOST_DEVICE friend bool operator<(const BoundedNode& a, const BoundedNode& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.node < b.node;
  }
};

}  // namespace kith::engine
