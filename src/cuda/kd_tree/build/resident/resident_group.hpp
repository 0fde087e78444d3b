// The upper levels of a set that fits into the shared memory of a cluster of blocks: what their only kernel needs, and
// which sets are split so.
#pragma once

#include "cuda/kd_tree/build/build_types.hpp"
#include "cuda/runtime/scratch_parts.hpp"

#include <algorithm>
#include <bit>

namespace kith::cuda {

/// Threads of a block.
inline constexpr std::uint32_t kResidentThreads = 512;
/// Levels, and nodes that are split at a time: at most one for each warp. Only the root has a tight box.
inline constexpr std::uint32_t kMostResidentLevels = 5, kMostResidentNodes = 1u << (kMostResidentLevels - 1);
inline constexpr std::uint32_t kMostResidentChildren = 2 * kMostResidentNodes;
static_assert(kMostResidentNodes * 32 <= kResidentThreads && kMostResidentLevels <= core::kTightBoxEvery);
/// Larger sets are split pass by pass. Measured in 3 dims of f32: 30,000 points gain a fifth, 100,000 lose one.
inline constexpr std::uint32_t kMostResidentPoints = 1 << 15, kResidentDims = 8;
/// Points of a block: those that pay for one more, and the most that are quicker than passes.
inline constexpr std::uint32_t kResidentWorthABlock = 512, kMostPerResidentBlock = 4096;
/// Blocks of a cluster, where the GPU has room for them: every one with clusters takes 8, some take 16.
inline constexpr std::uint32_t kMostCluster = 16;
/// Candidates of a node that are ranked by comparing all pairs.
inline constexpr std::uint32_t kMostListed = 128;
/// Counters of a histogram for each thread, at least and at most.
inline constexpr std::uint32_t kLeastCountersEach = 2, kMostCountersEach = 16;

/// What the kernel needs. A cluster splits the root into the nodes of level `levels`.
template <typename T>
struct ResidentGroup {
  using Key = OrderedKey<T>;

  TreeShape shape;
  std::uint32_t levels = 0;
  std::uint32_t blocks = 0;    ///< of the cluster
  std::uint32_t counters = 0;  ///< of the histograms of a level, all nodes together: a power of two
  std::uint32_t capacity = 0;  ///< points of a block, at most
  PointSource<T> source;

  T* out_values = nullptr;  ///< coordinate d of the point at place i at d * out_stride + i
  std::uint64_t out_stride = 0;
  std::uint32_t* out_indices = nullptr;
  TreeArrays<T> tree;  ///< the splits of these levels are written

  // Written for the finish.
  T* child_boxes = nullptr;           ///< [1 << levels][lower, upper][dims]: cut
  std::uint32_t* refused = nullptr;   ///< whether a coordinate is not finite
  std::uint32_t* arrivals = nullptr;  ///< [1 << levels]: cleared
  std::uint32_t* tied = nullptr;      ///< whether more points share a coordinate than a list holds

  // Scratch.
  Key* extremes = nullptr;              ///< [block][extreme_values()]
  std::uint32_t* histograms = nullptr;  ///< [2][counters]
  Key* list_keys = nullptr;             ///< [node][kMostListed]
  std::uint32_t* list_places = nullptr;
  std::uint32_t* cursors = nullptr;  ///< [1 << levels]: points moved so far

  /// Extremes of the nodes of a level: of all dimensions and of the numbers of points.
  KITH_HOST_DEVICE std::uint32_t extreme_values() const { return kMostResidentNodes * 2 * (shape.dims + 1); }
};

/// A node that is being split, in shared memory.
template <typename T>
struct ResidentNode {
  OrderedKey<T> low_key = 0;    ///< of the counted keys
  OrderedKey<T> split_key = 0;  ///< of the first component, where it is the same for all undecided points
  T low = 0, scale = 0;         ///< of the counted coordinates in the first round
  std::uint32_t dim = 0;
  std::uint32_t component = 0;  ///< of the super-key, that is counted
  std::uint32_t shift = 0;      ///< from keys to counters
  std::uint32_t rank = 0;       ///< of the first point of the right half, among the undecided points
  std::uint32_t count = 0;      ///< of undecided points
  std::uint32_t round = 0;      ///< in which its points were counted last
  std::uint32_t chosen = 0;     ///< the counter that has the rank
  std::uint32_t pivot = 0;      ///< the place of the first point of the right half
  OrderedKey<T> pivot_key = 0;  ///< its component
  T split_value = 0;
};

/// Where the parts of a block's shared memory begin, in bytes.
template <typename T>
struct ResidentLayout {
  static constexpr std::uint32_t kKeyBytes = sizeof(OrderedKey<T>), kValueBytes = sizeof(T);

  static constexpr std::uint32_t nodes = 0;  ///< ResidentNode[2][kMostResidentNodes], by level in turns
  static constexpr std::uint32_t sums = nodes + 2 * kMostResidentNodes * sizeof(ResidentNode<T>);  ///< u32[warps]
  static constexpr std::uint32_t child_counts = sums + 4 * kResidentThreads / 32;                  ///< u32[children]
  static constexpr std::uint32_t child_starts = child_counts + 4 * kMostResidentChildren;          ///< the same
  static constexpr std::uint32_t child_places = child_starts + 4 * kMostResidentChildren;          ///< the same
  static constexpr std::uint32_t extremes = child_places + 4 * kMostResidentChildren;  ///< Key[nodes][2][dims + 1]
  /// T[2][children][lower, upper][dims], by level in turns
  static constexpr std::uint32_t boxes = extremes + kMostResidentNodes * 2 * (kResidentDims + 1) * kKeyBytes;
  /// u16[capacity]: in the counter, then in the child
  static constexpr std::uint32_t positions = boxes + 2 * kMostResidentChildren * 2 * kResidentDims * kValueBytes;
  static_assert(extremes % 8 == 0 && positions % 8 == 0);

  std::uint32_t capacity = 0;  ///< a multiple of 8
  /// u16[capacity]: the counter; at the end the points in order of their children.
  KITH_HOST_DEVICE std::uint32_t bins() const { return positions + 2 * capacity; }
  /// u8[capacity]
  KITH_HOST_DEVICE std::uint32_t states() const { return bins() + 2 * capacity; }
  /// T[dims][capacity]
  KITH_HOST_DEVICE std::uint32_t values() const { return states() + capacity; }
  KITH_HOST_DEVICE std::uint32_t bytes(std::uint32_t dims) const { return values() + dims * capacity * kValueBytes; }
};

/// The upper `levels` of a tree, if a cluster of at most `most_cluster` blocks takes its points; without blocks if not.
template <typename T>
ResidentGroup<T> plan_resident(const TreeShape& shape, std::uint32_t levels, std::uint32_t most_cluster,
                               std::uint32_t shared_bytes) {
  ResidentGroup<T> group;
  const std::uint64_t points = shape.geometry.points;
  if (levels == 0 || levels > kMostResidentLevels || points > kMostResidentPoints || shape.dims > kResidentDims ||
      most_cluster == 0) {
    return group;
  }
  const auto few = static_cast<std::uint32_t>(points);
  const std::uint32_t blocks = std::min(std::bit_floor(std::max(few / kResidentWorthABlock, 1u)), most_cluster);
  group.shape = shape;
  group.levels = levels;
  group.capacity = ((few + blocks - 1) / blocks + 7) / 8 * 8;
  if (group.capacity > kMostPerResidentBlock || ResidentLayout<T>{group.capacity}.bytes(shape.dims) > shared_bytes) {
    return {};
  }
  group.blocks = blocks;
  group.counters = kLeastCountersEach * kResidentThreads;
  while (group.counters < kMostCountersEach * kResidentThreads && group.counters < few / 8) group.counters *= 2;
  return group;
}

/// The memory of the group, of which nothing need be zero at the start. Source, output and tree are not set.
template <typename T>
void lay_out_resident(ResidentGroup<T>& group, ScratchParts& parts) {
  const std::uint32_t children = 1u << group.levels;
  group.child_boxes = parts.take<T>(std::uint64_t{children} * 2 * group.shape.dims);
  group.tied = parts.take<std::uint32_t>(1);
  group.extremes = parts.take<OrderedKey<T>>(std::uint64_t{group.blocks} * group.extreme_values());
  group.histograms = parts.take<std::uint32_t>(2 * std::uint64_t{group.counters});
  group.list_keys = parts.take<OrderedKey<T>>(std::uint64_t{kMostResidentNodes} * kMostListed);
  group.list_places = parts.take<std::uint32_t>(std::uint64_t{kMostResidentNodes} * kMostListed);
  group.cursors = parts.take<std::uint32_t>(children);
}

}  // namespace kith::cuda
