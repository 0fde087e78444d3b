// Writes the leaves of a subtree: points in index order, dimension by dimension; finds their boxes and smallest
// indices.
#pragma once

#include "cuda/kd_tree/build/finish/finish_leaf_order.cuh"
#include "cuda/kd_tree/build/finish/finish_serial.cuh"
#include "cuda/kd_tree/build/finish/finish_team.cuh"

namespace kith::cuda {

/// Where the boxes and smallest indices of the nodes of a subtree are while they are joined: in shared memory if there
/// are few leaves, else in the tree itself. In shared memory a node lies where its first leaf was.
template <typename T, bool kStaged>
struct NodeStorage {
  const Subtree<T, kStaged>& subtree;
  bool is_shared;

  __device__ __forceinline__ explicit NodeStorage(const Subtree<T, kStaged>& given)
      : subtree(given), is_shared(kStaged && (1u << given.levels) <= threads_per_block()) {}

  __device__ __forceinline__ T* box(std::uint32_t depth, std::uint32_t j) const {
    return is_shared ? shared_box(depth, j) : subtree.tree_box(depth, j);
  }
  __device__ __forceinline__ T* shared_box(std::uint32_t depth, std::uint32_t j) const {
    return reinterpret_cast<T*>(subtree.counters) + (j << (subtree.levels - depth)) * 2 * subtree.dims;
  }
  __device__ __forceinline__ std::uint32_t* shared_smallest(std::uint32_t depth, std::uint32_t j) const {
    return reinterpret_cast<std::uint32_t*>(subtree.candidate_keys) + (j << (subtree.levels - depth));
  }
  __device__ __forceinline__ std::uint32_t* tree_smallest(std::uint32_t depth, std::uint32_t j) const {
    return subtree.given.tree.smallest + subtree.tree_node(depth, j);
  }
  /// Keeps the smallest index of a leaf.
  __device__ __forceinline__ void keep_smallest(std::uint32_t leaf, std::uint32_t index) const {
    if (is_shared) {  // apart, so that the compiler knows which memory it is
      *shared_smallest(subtree.levels, leaf) = index;
    } else {
      *tree_smallest(subtree.levels, leaf) = index;
    }
  }
};

/// The leaves that a warp writes: if there are as many as warps, those of the nodes that it has split.
struct WarpLeaves {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  __device__ __forceinline__ explicit WarpLeaves(std::uint32_t levels) {
    const std::uint32_t leaves = 1u << levels, warps = threads_per_block() / kWarp;
    const std::uint32_t each = leaves > warps ? leaves / warps : 1;
    first = warp_number() * each;
    end = first < leaves ? first + each : first;
  }
};

/// The boxes of the leaves. All threads of the block; they have synchronised since the last split. Also sorts the
/// leaves if they fit in registers.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void find_leaf_boxes(const Subtree<T, kStaged>& subtree) {
  const NodeStorage<T, kStaged> storage(subtree);
  const std::uint32_t depth = subtree.levels;
  if (1u << depth > threads_per_block() || subtree.count == 0) {  // without a point there is no slot to load
    const WarpLeaves own(depth);
    for (std::uint32_t leaf = own.first + lane_number(); leaf < own.end; leaf += kWarp) {
      tighten_alone(subtree, subtree.node(depth, leaf), storage.box(depth, leaf));
    }
    return;
  }
  const LeafTeam team(depth);
  const FinishNode leaf = subtree.node(depth, team.leaf);
  const OwnSlots<kRows> slots = only_points(load_slots<kRows, true>(subtree, leaf, team.rank, team.bits));
  T* box = storage.box(depth, team.leaf);
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    KeyRange<T> range = range_of_slots(subtree, slots, d);
    if (team.threads > kWarp) {
      range = range_of_team(subtree, Team(depth), range, d % 2);
    } else {
      range.join_lanes(team.threads);
    }
    if (team.rank == 0) {
      box[d] = value_of_key<T>(range.low);
      box[subtree.dims + d] = value_of_key<T>(range.high);
    }
  }
  if (fits_in_registers<kRows>(subtree)) {
    const std::uint32_t smallest = order_in_registers(subtree, leaf, team, slots);
    if (team.rank == 0) storage.keep_smallest(team.leaf, smallest);
  }
}

/// Writes points to their places in the leaves.
template <typename T, bool kStaged>
class LeafWriter {
 public:
  __device__ __forceinline__ explicit LeafWriter(const Subtree<T, kStaged>& subtree)
      : subtree_(subtree),
        first_(reinterpret_cast<T*>(subtree.given.tree.blocks + subtree.base * subtree.given.shape.point_bytes)),
        point_values_(subtree.given.shape.point_bytes / sizeof(T)),
        is_padded_(subtree.given.shape.point_bytes != subtree.dims * sizeof(T) + sizeof(std::uint32_t)) {}

  /// A leaf that is not sorted, with a lane for each point, `lanes` of them, a power of two. One that does not exist is
  /// not written.
  __device__ __forceinline__ void write_and_sort(std::uint32_t leaf, bool exists, std::uint32_t lanes) const {
    const std::uint32_t rank = lane_number() & (lanes - 1);
    const FinishNode node = subtree_.node(subtree_.levels, leaf);
    const std::uint32_t begin = node.begin, count = exists ? node.end - begin : 0;
    const bool has_one = rank < count;
    const std::uint32_t slot = has_one ? subtree_.order[begin + rank] : 0;
    const std::uint32_t index = has_one ? subtree_.indices[slot] : kNoIndex;
    const std::uint32_t place = count_less(index, lanes);
    if (has_one) write_point(begin, count, place, slot, index);
    if (exists && place == 0 && (has_one || rank == 0)) {
      NodeStorage<T, kStaged>(subtree_).keep_smallest(leaf, index);
    }
  }

  /// Point `rank` of a leaf that was sorted, and every `lanes`th from there on. Returns the index of the first.
  __device__ __forceinline__ std::uint32_t write_sorted(const FinishNode& leaf, std::uint32_t rank,
                                                        std::uint32_t lanes) const {
    const std::uint32_t count = leaf.end - leaf.begin;
    std::uint32_t first = kNoIndex;
#pragma unroll 1
    for (std::uint32_t i = rank; i < count; i += lanes) {
      const std::uint32_t slot = subtree_.order[leaf.begin + i], index = subtree_.indices[slot];
      write_point(leaf.begin, count, i, slot, index);
      first = i == rank ? index : first;
    }
    return first;
  }

 private:
  /// How many of eight lanes hold a lesser index: those whose numbers differ from this one's by `first` and on.
  __device__ __forceinline__ static std::uint32_t count_less_of_eight(std::uint32_t index, std::uint32_t first) {
    std::uint32_t less = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (first + i > 0) less = add_with_carry(less, 0, index, shuffle_xor(~index, first + i));
    }
    return less;
  }
  /// How many of the leaf's lanes hold a lesser index.
  __device__ __forceinline__ static std::uint32_t count_less(std::uint32_t index, std::uint32_t lanes) {
    std::uint32_t less = 0;
    if (lanes < 8) {
#pragma unroll 1
      for (std::uint32_t i = 1; i < lanes; ++i) less = add_with_carry(less, 0, index, shuffle_xor(~index, i));
      return less;
    }
    less = count_less_of_eight(index, 0);
    if (lanes > 8) less += count_less_of_eight(index, 8);
    if (lanes > 16) less += count_less_of_eight(index, 16) + count_less_of_eight(index, 24);
    return less;
  }

  __device__ __forceinline__ void write_point(std::uint32_t begin, std::uint32_t count, std::uint32_t place,
                                              std::uint32_t slot, std::uint32_t index) const {
    T* to = first_ + (begin * point_values_ + place);
    if constexpr (kStaged) {
      const T* from = subtree_.values + slot;
#pragma unroll 1
      for (std::uint32_t rest = subtree_.dims; rest > 0; --rest, to += count, from += subtree_.given.capacity) {
        *to = *from;
      }
    } else {
#pragma unroll 1
      for (std::uint32_t d = 0; d < subtree_.dims; ++d, to += count) *to = subtree_.value(slot, d);
    }
    auto* number = reinterpret_cast<std::uint32_t*>(to - place) + place;
    *number = index;
    if (is_padded_) number[count] = 0;
  }

  const Subtree<T, kStaged>& subtree_;
  T* first_;
  std::uint32_t point_values_;  ///< the storage of a point
  bool is_padded_;
};

/// All threads of the block; they have found the leaves' boxes. A warp that reads what is known of a leaf has written
/// it, or the block must synchronise before.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void write_leaves(const Subtree<T, kStaged>& subtree) {
  std::uint32_t width = 1;
  while (width < subtree.given.shape.geometry.most_per_leaf()) width *= 2;
  const LeafWriter<T, kStaged> writer(subtree);
  const WarpLeaves own(subtree.levels);
  if (width > kWarp) {
    sync_block();  // boxes are no longer read from what is sorted now
    sort_leaves(subtree, width);
    sync_after_teams();
#pragma unroll 1
    for (std::uint32_t leaf = own.first; leaf < own.end; ++leaf) {
      const std::uint32_t smallest = writer.write_sorted(subtree.node(subtree.levels, leaf), lane_number(), kWarp);
      if (lane_number() == 0) NodeStorage<T, kStaged>(subtree).keep_smallest(leaf, smallest);
    }
    return;
  }
  sync_warp();  // the leaves are sorted if they fit in registers
  const std::uint32_t bits = 31 - leading_zeros(width), step = kWarp >> bits;
  std::uint32_t leaf = own.first + (lane_number() >> bits);
  if (fits_in_registers<kRows>(subtree)) {
#pragma unroll 1
    for (; leaf < own.end; leaf += step) {
      writer.write_sorted(subtree.node(subtree.levels, leaf), lane_number() & (width - 1), width);
    }
  } else {
#pragma unroll 1
    for (std::uint32_t first = own.first; first < own.end; first += step, leaf += step) {
      writer.write_and_sort(leaf, leaf < own.end, width);
    }
  }
}

}  // namespace kith::cuda
