// What a search by edit distance reads of an object or a node before it measures anything, in 16 bytes that a lane
// loads at once. All of it is whole numbers, so bounds take integers alone.
#pragma once

#include "core/host_device.hpp"
#include "cuda/cover_tree/spaces/space.cuh"

#include <cstdint>

namespace kith::cuda {

/// Whether a space's rows begin as heads need them: length, and 64 bits of counts (edit_bound.cuh).
template <typename Space>
concept HeadedSpace = requires {
  requires Space::kHasHeads;
};

/// Of an object `first` is its number and `distance` the one from the centre of its leaf; of a node they are the reach
/// and the distance from the centre of the parent.
struct alignas(16) CoverHead {
  static constexpr std::uint32_t kMostDistance = (1 << 12) - 1;  ///< as well as length

  std::uint32_t first = 0;
  std::uint32_t sizes = 0;  ///< distance, length, how many of the bits are set
  std::uint32_t low = 0, high = 0;

  KITH_HOST_DEVICE static std::uint32_t packed_sizes(std::uint32_t distance, std::uint32_t length, std::uint32_t bits) {
    return distance | length << 12 | bits << 24;
  }
  KITH_HOST_DEVICE std::int32_t distance() const { return static_cast<std::int32_t>(sizes & kMostDistance); }
  KITH_HOST_DEVICE std::int32_t length() const { return static_cast<std::int32_t>(sizes >> 12 & kMostDistance); }
  KITH_HOST_DEVICE std::int32_t bits() const { return static_cast<std::int32_t>(sizes >> 24); }
};

}  // namespace kith::cuda
