// Writes the leaves of a subtree: points in index order, dimension by dimension; finds their boxes and smallest
// indices.
#pragma once

#include "cuda/kd_tree/finish_serial.cuh"
#include "cuda/kd_tree/finish_slots.cuh"
#include "cuda/kd_tree/finish_team.cuh"

namespace kith::cuda {

/// Stands for "no point" where an index is expected.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;

/// Where the boxes and smallest indices of the nodes of a subtree are while they are joined: in shared memory if there
/// are few leaves, else in the tree itself. In shared memory a node lies where its first leaf was.
template <typename T, bool kStaged>
struct NodeRoom {
  const Subtree<T, kStaged>& subtree;
  bool is_shared;

  __device__ __forceinline__ explicit NodeRoom(const Subtree<T, kStaged>& given)
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
};

/// Sorts the slots of each leaf by index, all leaves at a time. `width`: a power of two, not less than any leaf. In a
/// network that always moves the lesser key to the front, what lies behind the end of a leaf would stay there.
template <typename T, bool kStaged>
__device__ __forceinline__ void sort_leaves(const Subtree<T, kStaged>& subtree, std::uint32_t width) {
  const std::uint32_t pairs = (width / 2) << subtree.levels;
  const auto pass = [&](std::uint32_t step, std::uint32_t flip) {
    for (std::uint32_t i = thread_number(); i < pairs; i += threads_per_block()) {
      const std::uint32_t leaf = i / (width / 2), pair = i % (width / 2);
      const std::uint32_t first = 2 * pair - (pair & (step - 1)), second = first ^ flip;
      const std::uint32_t begin = subtree.first_place(subtree.levels, leaf);
      if (begin + second >= subtree.first_place(subtree.levels, leaf + 1)) continue;
      const std::uint16_t a = subtree.order[begin + first], b = subtree.order[begin + second];
      if (subtree.indices[a] > subtree.indices[b]) {
        subtree.order[begin + first] = b;
        subtree.order[begin + second] = a;
      }
    }
    sync_block();
  };
  for (std::uint32_t size = 2; size <= width; size *= 2) {
    pass(size / 2, size - 1);
    for (std::uint32_t step = size / 4; step > 0; step /= 2) pass(step, step);
  }
}

/// The boxes of the leaves. All threads of the block; they have met since the last split.
template <std::uint32_t kRows, typename T, bool kStaged>
__device__ __forceinline__ void find_leaf_boxes(const Subtree<T, kStaged>& subtree) {
  const NodeRoom<T, kStaged> room(subtree);
  const std::uint32_t depth = subtree.levels, leaves = 1u << depth;
  if (leaves > threads_per_block() || subtree.count == 0) {  // without a point there is no slot to load
    for (std::uint32_t leaf = thread_number(); leaf < leaves; leaf += threads_per_block()) {
      tighten_alone(subtree, subtree.node(depth, leaf), room.box(depth, leaf));
    }
    return;
  }
  const std::uint32_t bits = thread_bits_at(depth), threads = 1u << bits;  // of a leaf
  const std::uint32_t rank = thread_number() & (threads - 1), leaf = thread_number() >> bits;
  const OwnSlots<kRows> slots = only_points(load_slots<kRows>(subtree, subtree.node(depth, leaf), rank, bits));
  T* box = room.box(depth, leaf);
#pragma unroll 1
  for (std::uint32_t d = 0; d < subtree.dims; ++d) {
    KeyRange<T> range = range_of_slots(subtree, slots, d);
    if (threads > kWarp) {
      range = range_of_team(subtree, Team(depth), range, d % 2);
    } else {
      range.join_lanes(threads);
    }
    if (rank == 0) {
      box[d] = value_of_key<T>(range.low);
      box[subtree.dims + d] = value_of_key<T>(range.high);
    }
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

  /// A leaf with a lane for each point, `lanes` of them, a power of two. One that does not exist is not written.
  __device__ __forceinline__ void write_at_once(std::uint32_t leaf, std::uint32_t lanes) const {
    const std::uint32_t rank = lane_number() & (lanes - 1);
    const bool exists = leaf < 1u << subtree_.levels;
    const FinishNode node = subtree_.node(subtree_.levels, leaf);
    const std::uint32_t begin = node.begin, count = exists ? node.end - begin : 0;
    const bool has_one = rank < count;
    const std::uint32_t slot = has_one ? subtree_.order[begin + rank] : 0;
    const std::uint32_t index = has_one ? subtree_.indices[slot] : kNoIndex;
    const std::uint32_t place = count_less(index, lanes);
    if (has_one) write_point(begin, count, place, slot, index);
    if (exists && place == 0 && (has_one || rank == 0)) write_smallest(leaf, index);
  }

  /// A leaf that was sorted, by a warp.
  __device__ __forceinline__ void write_in_turns(std::uint32_t leaf) const {
    if (leaf >= 1u << subtree_.levels) return;
    const FinishNode node = subtree_.node(subtree_.levels, leaf);
    const std::uint32_t begin = node.begin, count = node.end - begin;
    for (std::uint32_t i = lane_number(); i < count; i += kWarp) {
      const std::uint32_t slot = subtree_.order[begin + i], index = subtree_.indices[slot];
      write_point(begin, count, i, slot, index);
      if (i == 0) write_smallest(leaf, index);
    }
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

  __device__ __forceinline__ void write_smallest(std::uint32_t leaf, std::uint32_t index) const {
    const NodeRoom<T, kStaged> room(subtree_);
    if (room.is_shared) {  // apart, so that the compiler knows which memory it is
      *room.shared_smallest(subtree_.levels, leaf) = index;
    } else {
      *room.tree_smallest(subtree_.levels, leaf) = index;
    }
  }

  const Subtree<T, kStaged>& subtree_;
  T* first_;
  std::uint32_t point_values_;  ///< the room of a point
  bool is_padded_;
};

/// All threads of the block; they have met since the last split, and must meet before the smallest indices are joined.
template <typename T, bool kStaged>
__device__ __forceinline__ void write_leaves(const Subtree<T, kStaged>& subtree) {
  std::uint32_t width = 1;
  while (width < subtree.given.shape.geometry.most_per_leaf()) width *= 2;
  const LeafWriter<T, kStaged> writer(subtree);
  const std::uint32_t leaves = 1u << subtree.levels;
  if (width > kWarp) {
    sync_block();  // nobody looks for boxes in what is sorted now
    sort_leaves(subtree, width);
    const std::uint32_t warps = threads_per_block() / kWarp;
    for (std::uint32_t leaf = warp_number(); leaf < leaves; leaf += warps) writer.write_in_turns(leaf);
  } else {
    const std::uint32_t bits = 31 - leading_zeros(width), first_leaf = thread_number() >> bits;
    const std::uint32_t step = threads_per_block() >> bits;
#pragma unroll 1
    for (std::uint32_t first = 0; first < leaves; first += step) writer.write_at_once(first + first_leaf, width);
  }
}

}  // namespace kith::cuda
