// The binary tree as a walk sees it: several levels at a time, so that the lanes of a warp look at many nodes at once.
#pragma once

#include "core/host_device.hpp"

#include <cstdint>

namespace kith::cuda {

/// A wide node stands at a level of the binary tree and has as children the 2^kLevels nodes so many levels below, which
/// lie side by side. The levels are counted from the leaves, so the root may have fewer children, and no other node.
/// The children of wide node g of depth > 0 are g << kLevels, one more, … of their level; the root is wide node 0 of
/// depth 0.
template <std::uint32_t kLevels>
struct TreeByLevels {
  static constexpr std::uint32_t kStep = kLevels;
  /// Of a tree of up to 32 levels.
  static constexpr std::uint32_t kMostDepths = (32 + kStep - 1) / kStep;

  std::uint32_t first_step;  ///< levels between the root and its children
  std::uint32_t last;        ///< the depth whose children are leaves

  KITH_HOST_DEVICE explicit TreeByLevels(std::uint32_t levels)
      : first_step(levels == 0 ? 0 : (levels - 1) % kStep + 1), last((levels - first_step) / kStep) {}

  KITH_HOST_DEVICE std::uint32_t child_level(std::uint32_t depth) const { return first_step + depth * kStep; }
  KITH_HOST_DEVICE std::uint32_t children(std::uint32_t depth) const {
    return depth == 0 ? 1u << first_step : 1u << kStep;
  }
};

/// For the 32 lanes of a warp.
using WideTree = TreeByLevels<5>;

}  // namespace kith::cuda
