// The tie rule: neighbours are ordered by (distance, index), nothing else.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// A point that may be a neighbour, with its chain (squared distance for L2).
template <typename T>
struct Candidate {
  T distance;
  std::uint32_t index;

  KITH_HOST_DEVICE friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.index < b.index);
  }
  KITH_HOST_DEVICE friend bool operator==(const Candidate& a, const Candidate& b) {
    return a.distance == b.distance && a.index == b.index;
  }
};

}  // namespace kith::core
