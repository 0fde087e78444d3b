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
    if (!is_shared) return subtree.tree_box(depth, j);
    return reinterpret_cast<T*>(subtree.counters) + (j << (subtree.levels - depth)) * 2 * subtree.dims;
  }
  __device__ __forceinline__ std::uint32_t* smallest(std::uint32_t depth, std::uint32_t j) const {
    if (!is_shared) return subtree.given.tree.smallest + subtree.tree_node(depth, j);
    return reinterpret_cast<std::uint32_t*>(subtree.candidate_keys) + (j << (subtree.levels - depth));
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

/// A leaf in the hands of some lanes.
template <typename T, bool kStaged>
class LeafWriter {
 public:
  /// `lanes`: a power of two, those that work on this leaf. A leaf that does not exist is empty and is not written.
  __device__ __forceinline__ LeafWriter(const Subtree<T, kStaged>& subtree, std::uint32_t leaf, std::uint32_t lanes)
      : subtree_(subtree), lanes_(lanes), rank_(lane_number() & (lanes - 1)) {
    const NodeRoom<T, kStaged> room(subtree);
    const bool exists = leaf < 1u << subtree.levels;
    begin_ = exists ? subtree.first_place(subtree.levels, leaf) : 0;
    count_ = exists ? subtree.first_place(subtree.levels, leaf + 1) - begin_ : 0;
    values_ =
        reinterpret_cast<T*>(subtree.given.tree.blocks + (subtree.base + begin_) * subtree.given.shape.point_bytes);
    smallest_ = room.smallest(subtree.levels, exists ? leaf : 0);
    if (exists && count_ == 0 && rank_ == 0) *smallest_ = kNoIndex;
  }

  /// A leaf with a lane for each point.
  __device__ __forceinline__ void write_at_once() const {
    const bool has_one = rank_ < count_;
    const std::uint32_t slot = has_one ? subtree_.order[begin_ + rank_] : 0;
    const std::uint32_t index = has_one ? subtree_.indices[slot] : kNoIndex;
    const std::uint32_t place = count_less(index);
    if (!has_one) return;
    T* values = values_ + place;
    for (std::uint32_t d = 0; d < subtree_.dims; ++d, values += count_) *values = subtree_.value(slot, d);
    write_number(place, index);
  }

  /// A leaf that was sorted.
  __device__ __forceinline__ void write_in_turns() const {
    for (std::uint32_t i = rank_; i < count_; i += lanes_) {
      const std::uint32_t slot = subtree_.order[begin_ + i];
      T* values = values_ + i;
      for (std::uint32_t d = 0; d < subtree_.dims; ++d, values += count_) *values = subtree_.value(slot, d);
      write_number(i, subtree_.indices[slot]);
    }
  }

 private:
  /// How many of the leaf's lanes hold a lesser index. Eights of lanes are known to the compiler.
  __device__ __forceinline__ std::uint32_t count_less(std::uint32_t index) const {
    std::uint32_t less = 0;
    if (lanes_ < 8) {
      for (std::uint32_t i = 1; i < lanes_; ++i) less += shuffle_xor(index, i) < index ? 1 : 0;
      return less;
    }
    for (std::uint32_t eight = 0; eight < lanes_; eight += 8) {
      const std::uint32_t other = shuffle_xor(index, eight);
      less += other < index ? 1 : 0;
#pragma unroll
      for (std::uint32_t i = 1; i < 8; ++i) less += shuffle_xor(other, i) < index ? 1 : 0;
    }
    return less;
  }

  __device__ __forceinline__ void write_number(std::uint32_t place, std::uint32_t index) const {
    const TreeShape& shape = subtree_.given.shape;
    auto* numbers = reinterpret_cast<std::uint32_t*>(values_ + std::uint64_t{shape.dims} * count_);
    numbers[place] = index;
    if (shape.point_bytes != shape.dims * sizeof(T) + sizeof(std::uint32_t)) numbers[count_ + place] = 0;
    if (place == 0) *smallest_ = index;
  }

  const Subtree<T, kStaged>& subtree_;
  std::uint32_t lanes_, rank_;
  std::uint32_t begin_ = 0, count_ = 0;
  T* values_ = nullptr;
  std::uint32_t* smallest_ = nullptr;
};

/// All threads of the block; they have met since the last split, and must meet before the smallest indices are joined.
template <typename T, bool kStaged>
__device__ __forceinline__ void write_leaves(const Subtree<T, kStaged>& subtree) {
  std::uint32_t width = 1;
  while (width < subtree.given.shape.geometry.most_per_leaf()) width *= 2;
  if (width > kWarp) sort_leaves(subtree, width);
  const std::uint32_t lanes = width < kWarp ? width : kWarp;
  const std::uint32_t first_leaf = thread_number() / lanes, step = threads_per_block() / lanes;
  for (std::uint32_t first = 0; first < 1u << subtree.levels; first += step) {
    const LeafWriter<T, kStaged> writer(subtree, first + first_leaf, lanes);
    if (width <= kWarp) {
      writer.write_at_once();
    } else {
      writer.write_in_turns();
    }
  }
}

}  // namespace kith::cuda
