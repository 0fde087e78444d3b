// The shape of the k-d tree: closed forms, no pointers. Shared by host and device.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::core {

/// Levels between exact boxes: a node's box is tight at levels 0, 6, 12, … and cut at the split in between.
inline constexpr std::uint32_t kTightBoxEvery = 6;

/// Node j of level l owns the points [first(l, j), first(l, j + 1)) of the permuted order. Leaves are the nodes of
/// level `levels`. Nodes are also numbered level by level: node(l, j) = 2^l - 1 + j.
struct KdGeometry {
  std::uint64_t points = 0;
  std::uint32_t levels = 0;

  /// The fewest levels at which no node holds more than `leaf_size` (>= 1) points.
  KITH_HOST_DEVICE static KdGeometry of(std::uint64_t points, std::uint32_t leaf_size) {
    KdGeometry geometry{points, 0};
    while (geometry.most_per_leaf() > leaf_size) ++geometry.levels;
    return geometry;
  }

  KITH_HOST_DEVICE std::uint64_t first(std::uint32_t level, std::uint64_t j) const { return (j * points) >> level; }
  KITH_HOST_DEVICE std::uint64_t leaves() const { return std::uint64_t{1} << levels; }
  KITH_HOST_DEVICE std::uint64_t nodes() const { return 2 * leaves() - 1; }
  KITH_HOST_DEVICE std::uint64_t most_per_leaf() const { return (points + leaves() - 1) >> levels; }
  KITH_HOST_DEVICE static std::uint64_t node(std::uint32_t level, std::uint64_t j) {
    return (std::uint64_t{1} << level) - 1 + j;
  }
};

}  // namespace kith::core
