// The memory of the builder `presort` on a GPU, and which levels it splits how.
#pragma once

#include "cuda/kd_tree/build/builders/builders.hpp"
#include "cuda/primitives/sort_pairs.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t kPresortThreads = 256;
inline constexpr std::uint32_t kPresortEach = 16;  ///< places of a thread that divides an order
inline constexpr std::uint32_t kPresortTile = kPresortThreads * kPresortEach;
inline constexpr std::uint32_t kMostLocal = 2048, kLeastLocal = 256;  ///< points of a subtree in shared memory
inline constexpr std::uint32_t kLocalEach = 8;                        ///< of them per thread
/// Points with the same coordinate that one thread sorts by the others; where more are equal, sorts do.
inline constexpr std::uint32_t kFewEqual = 32;

/// Two sets of orders; each order has the number of the point at every place. One lies in the free copy of the points.
template <typename T>
struct PresortMemory {
  std::uint64_t stride = 0;            ///< between the orders of two dimensions
  std::uint32_t* orders[2] = {};       ///< [dimension][place]
  std::uint16_t* local = nullptr;      ///< [number]: of a point in its subtree
  KeyedPairs<OrderedKey<T>> pairs[2];  ///< while orders are sorted; of the first, values are the order's own
  std::uint32_t* sides = nullptr;      ///< a bit per number: the point goes to the right half of its node
  std::uint64_t* tiles = nullptr;      ///< [tile]: how many points went left so far; 0 at the start
  std::uint64_t tile_count = 0;
  std::uint32_t* has_long_runs = nullptr;
  std::uint64_t bytes = 0;
};

/// Blocks that share a node of a level.
inline std::uint64_t presort_tiles(const core::KdGeometry& geometry, std::uint32_t level) {
  return (core::KdGeometry{geometry.points, level}.most_per_leaf() + kPresortTile - 1) / kPresortTile;
}

template <typename T>
PresortMemory<T> lay_out_presort(const TreeShape& shape, std::byte* copy, std::byte* scratch) {
  using Key = OrderedKey<T>;
  ScratchParts parts(scratch);
  PresortMemory<T> memory;
  const std::uint64_t points = shape.geometry.points;
  memory.stride = column_stride(shape);
  memory.orders[0] = parts.take<std::uint32_t>(memory.stride * shape.dims);
  memory.sides = parts.take<std::uint32_t>((points + 31) / 32);
  for (std::uint32_t level = 0; level < shape.geometry.levels; ++level) {
    const std::uint64_t each = presort_tiles(shape.geometry, level);
    if (each == 1) break;  // none waits for another
    memory.tile_count = (each << level) * shape.dims;
  }
  memory.tiles = parts.take<std::uint64_t>(memory.tile_count);
  memory.has_long_runs = parts.take<std::uint32_t>(1);
  // In two dims or more a copy has space for keys and an order, and for orders and a local number.
  std::uint32_t* spare = shape.dims == 1 ? parts.take<std::uint32_t>(memory.stride) : nullptr;
  if (copy != nullptr) {
    memory.orders[1] = reinterpret_cast<std::uint32_t*>(copy);
    memory.local = reinterpret_cast<std::uint16_t*>(memory.orders[1] + memory.stride * shape.dims);
    Key* keys = reinterpret_cast<Key*>(copy);
    memory.pairs[0].keys = keys;
    memory.pairs[1].keys = keys + memory.stride;
    memory.pairs[1].values =
        shape.dims == 1 ? spare : reinterpret_cast<std::uint32_t*>(memory.pairs[1].keys + memory.stride);
  }
  memory.bytes = parts.bytes();
  return memory;
}

template <typename T>
BuilderScratch scratch_of_presort(const TreeShape& shape) {
  return {lay_out_presort<T>(shape, nullptr, nullptr).bytes, most_sort_bytes(shape.geometry.points)};
}

/// What a block has in shared memory of a subtree of at most `most` points, a multiple of kWarp.
struct LocalLayout {
  std::uint32_t orders[2] = {};  ///< u16[dimension][place]: local numbers
  std::uint32_t numbers = 0;     ///< u32[local number]
  std::uint32_t words = 0;       ///< u32[dimension][place / 32]: a bit per place, if its point goes left
  std::uint32_t before = 0;      ///< u32[dimension][place / 32]: how many do before these places
  std::uint32_t dim = 0;         ///< u16[node of a level]: that it splits
  std::uint32_t sides = 0;       ///< u8[local number]: 1: goes right
  std::uint32_t bytes = 0;

  KITH_HOST_DEVICE LocalLayout(std::uint32_t most, std::uint32_t dims) {
    const auto take = [this](std::uint32_t size) {
      const std::uint32_t at = bytes;
      bytes += (size + 15) / 16 * 16;
      return at;
    };
    for (std::uint32_t& order : orders) order = take(2 * most * dims);
    numbers = take(4 * most);
    words = take(most / 8 * dims);
    before = take(most / 8 * dims);
    dim = take(2 * most);
    sides = take(most);
  }
};

/// The subtrees that blocks split in shared memory: the nodes of `level`, of at most `most` points. There are none if
/// `level` is that of the leaves.
struct LocalPlan {
  std::uint32_t level = 0;
  std::uint32_t most = kMostLocal;

  LocalPlan(const TreeShape& shape, std::uint32_t shared_bytes) {
    constexpr std::uint32_t kGoodBytes = 56 << 10;  // four blocks at a time
    while (most > kLeastLocal && LocalLayout(most, shape.dims).bytes > kGoodBytes) most /= 2;
    const bool fits = LocalLayout(most, shape.dims).bytes <= shared_bytes;
    while (level < shape.geometry.levels &&
           (!fits || core::KdGeometry{shape.geometry.points, level}.most_per_leaf() > most)) {
      ++level;
    }
  }
};

}  // namespace kith::cuda
