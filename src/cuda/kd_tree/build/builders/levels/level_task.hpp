// What the builders `select` and `segsort` work on: the nodes of a level, and the points as numbers in tree order.
#pragma once

#include "cuda/kd_tree/build/builders/builders.hpp"
#include "cuda/kd_tree/tuning.hpp"
#include "cuda/primitives/sort_pairs.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kith::cuda {

// Where the two builders change their method, by the points of a node.
inline constexpr std::uint32_t kSubtreePoints = 2048;  ///< at most so many: one block, in shared memory
inline constexpr std::uint32_t kWarpPoints = 256;      ///< at most so many: one warp of that block
inline constexpr std::uint32_t kLevelTile = 8192;      ///< of larger nodes that a block counts
inline constexpr std::uint32_t kMovedRows = 8;         ///< points that a thread moves together
// Bits of digits, by who counts them, and of the coordinates that are sorted.
inline constexpr std::uint32_t kFewestDigitBits = 5, kWarpDigitBits = 8, kBlockDigitBits = 11;
inline constexpr std::uint32_t kSortedBits = 16;

inline constexpr std::uint32_t kLevelThreads = 256, kLevelWarps = kLevelThreads / 32;
static_assert(kLevelWarps << kWarpDigitBits == 1u << kBlockDigitBits, "warps share out the counters of the block");
static_assert(kSubtreePoints % kLevelThreads == 0 && kLevelTile % (kMovedRows * kLevelThreads) == 0);

/// The search for the first point of the right half of a node: a rank among candidates, which are equal in all
/// components of the super-key before `stage`. In that component their keys have `bits` bits from `low` on.
template <typename T>
struct NodeSearch {
  OrderedKey<T> low = 0;
  std::uint32_t bits = 0;
  std::uint32_t dim = 0;
  std::uint32_t stage = 0;
  std::uint32_t begin = 0;  ///< the place of the first candidate before the search; lists lie there, too
  std::uint32_t count = 0;  ///< of candidates
  std::uint32_t rank = 0;
  std::uint32_t round = 0;        ///< in which the list was made,
  std::uint32_t counted = 0;      ///< among so many
  std::uint32_t pivot = 0;        ///< the point, once it is found
  std::uint32_t range_count = 0;  ///< of candidates before the search: these are moved
  std::uint32_t range_rank = 0;   ///< and so many of them to the left
};

/// A level as its kernels see it. The boxes of the tree are those by which nodes split, meanwhile.
template <typename T>
struct LevelTask : ArrangeTask<T> {
  std::uint32_t level = 0;
  std::uint32_t parts = 1;  ///< blocks per node
  std::uint32_t digit_bits = 0;
  std::uint32_t round = 0;
  std::uint32_t long_list = kLongList;  ///< candidates that are worth all blocks
  std::uint32_t subtree_points = kSubtreePoints;

  std::uint32_t* numbers = nullptr;        ///< in tree order
  std::uint32_t* other_numbers = nullptr;  ///< as many
  std::uint32_t* lists[2] = {};            ///< of candidates, by round; the first lies in one of the above
  OrderedKey<T>* keys = nullptr;           ///< `select`: of the dimension that is split, in tree order
  std::uint32_t* sorted_keys[2] = {};      ///< `segsort`: node and coordinate in kSortedBits
  NodeSearch<T>* searches = nullptr;       ///< [node]
  std::uint32_t* histogram = nullptr;      ///< [node][digit]: zero between rounds
  std::uint32_t* cursors = nullptr;        ///< [node][left, right, listed]: zero at the start of a level
  std::uint32_t* open = nullptr;           ///< nodes with long lists
};

inline constexpr std::uint32_t kLevelCursors = 3, kListedCursor = 2;

/// Levels above the subtrees of blocks.
inline std::uint32_t levels_above(const TreeShape& shape, std::uint32_t subtree_points) {
  std::uint32_t level = 0;
  while (level < shape.geometry.levels &&
         core::KdGeometry{shape.geometry.points, level}.most_per_leaf() > subtree_points) {
    ++level;
  }
  return level;
}

/// Of the counts of all points of a node: buckets of some 16.
inline std::uint32_t digit_bits_of(std::uint64_t node_points) {
  const auto width = static_cast<std::uint32_t>(std::bit_width(node_points));
  return std::clamp(width - std::min(width, 4u), kFewestDigitBits, kBlockDigitBits);
}

/// Counters of the level that has most.
template <typename T>
std::uint64_t histogram_digits(const LevelTask<T>& task) {
  std::uint64_t digits = 0;
  for (std::uint32_t level = levels_above(task.shape, task.subtree_points); level-- > 0;) {
    digits = std::max(digits, std::uint64_t{1} << (level + digit_bits_of(task.shape.geometry.points >> level)));
  }
  return digits;
}

/// Lets the arrays of a task lie in its scratch memory and returns the bytes of that; null: only these count. Two
/// arrays of numbers, 8 bytes per point; the others lie in the free copy of the points, which has space for them in any
/// dims.
template <typename T>
std::uint64_t lay_out_levels(LevelTask<T>& task, bool sorts) {
  ScratchParts parts(task.scratch);
  const std::uint64_t points = task.shape.geometry.points;
  const std::uint32_t levels = levels_above(task.shape, task.subtree_points);
  const std::uint64_t nodes = levels == 0 ? 0 : std::uint64_t{1} << (levels - 1);
  task.open = parts.take<std::uint32_t>(1);
  task.numbers = parts.take<std::uint32_t>(points);
  task.other_numbers = parts.take<std::uint32_t>(levels == 0 ? 0 : points);
  task.searches = parts.take<NodeSearch<T>>(nodes);
  task.histogram = parts.take<std::uint32_t>(histogram_digits(task));
  task.cursors = parts.take<std::uint32_t>(nodes * kLevelCursors);
  if (task.copy == nullptr) return parts.bytes();
  const std::uint64_t stride = column_stride(task.shape);
  if (sorts) {
    task.sorted_keys[0] = reinterpret_cast<std::uint32_t*>(task.copy);
    task.sorted_keys[1] = task.sorted_keys[0] + stride;
  } else {
    task.keys = reinterpret_cast<OrderedKey<T>*>(task.copy);
    task.lists[1] = reinterpret_cast<std::uint32_t*>(task.keys + stride);
  }
  return parts.bytes();
}

template <typename T>
BuilderScratch scratch_of_levels(const TreeShape& shape, bool sorts) {
  LevelTask<T> task;
  task.shape = shape;
  return {lay_out_levels(task, sorts), sorts ? most_sort_bytes(shape.geometry.points) : 0};
}

}  // namespace kith::cuda
