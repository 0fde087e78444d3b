// A cloud of a few thousand points as one block of a GPU holds it in shared memory: leaves of eight points along a
// Morton curve, and a binary tree of their boxes.
//
//   n points: n * dims values, n numbers of 16 bits, n / 8 pairs of boxes; 41 KiB for 2048 points in 3-D and f32.
#pragma once

#include "core/host_device.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

/// Numbers have 12 bits, and sums of blocks fit into one more level.
inline constexpr std::uint32_t kMostSmallPoints = 4096;
inline constexpr std::uint32_t kSmallLeaf = 8;
/// In place of a number behind the last point.
inline constexpr std::uint16_t kNoSmallPoint = 0xffff;

/// What lies behind the last point is NaN, which is near nothing.
template <typename T, std::uint32_t kDims>
struct alignas(16) SmallLeaf {
  T values[kDims][kSmallLeaf];
};

/// The boxes of both children of a node. One without points is inside out: its distance is infinite.
template <typename T, std::uint32_t kDims>
struct alignas(16) SmallBoxes {
  T lower[2][kDims];
  T upper[2][kDims];
};

/// Node 1 is the root, those below node i are 2 i and 2 i + 1; leaf l is node slots + l.
struct SmallShape {
  std::uint32_t points = 0;
  std::uint32_t leaves = 0;
  std::uint32_t slots = 1;  ///< leaves, rounded up to a power of two

  KITH_HOST_DEVICE explicit constexpr SmallShape(std::uint32_t count)
      : points(count), leaves((count + kSmallLeaf - 1) / kSmallLeaf), slots(std::bit_ceil(leaves)) {}
  /// Places in leaves, with those behind the last point.
  KITH_HOST_DEVICE constexpr std::uint32_t places() const { return leaves * kSmallLeaf; }
};

/// Where the parts lie in one piece of memory, aligned to 16 bytes.
template <typename T, std::uint32_t kDims>
struct SmallTree {
  using Leaf = SmallLeaf<T, kDims>;
  using Boxes = SmallBoxes<T, kDims>;

  SmallShape shape;
  Leaf* leaves;
  Boxes* boxes;            ///< [node], from 1
  std::uint16_t* numbers;  ///< [place]

  KITH_HOST_DEVICE SmallTree(std::byte* memory, std::uint32_t points)
      : shape(points),
        leaves(reinterpret_cast<Leaf*>(memory)),
        boxes(reinterpret_cast<Boxes*>(memory + shape.leaves * sizeof(Leaf))),
        numbers(reinterpret_cast<std::uint16_t*>(memory + shape.leaves * sizeof(Leaf) + shape.slots * sizeof(Boxes))) {}

  /// A multiple of 16.
  KITH_HOST_DEVICE static constexpr std::uint32_t bytes(std::uint32_t points) {
    const SmallShape shape(points);
    return static_cast<std::uint32_t>(shape.leaves * sizeof(Leaf) + shape.slots * sizeof(Boxes) +
                                      shape.places() * sizeof(std::uint16_t));
  }
  KITH_HOST_DEVICE void load(std::uint32_t place, T (&to)[kDims]) const {
    for (std::uint32_t d = 0; d < kDims; ++d) to[d] = leaves[place / kSmallLeaf].values[d][place % kSmallLeaf];
  }
};

}  // namespace kith::cuda
