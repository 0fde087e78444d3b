// Writes the leaves of a subtree: points in index order, dimension by dimension, with their boxes and smallest indices.
#pragma once

#include "cuda/kd_tree/finish_box.cuh"

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

/// What the lanes of a leaf know.
template <typename T, bool kStaged>
class LeafWriter {
 public:
  /// `lanes`: a power of two, those that work on this leaf. A leaf that does not exist is empty and is not written.
  __device__ __forceinline__ LeafWriter(const Subtree<T, kStaged>& subtree, std::uint32_t leaf, std::uint32_t lanes)
      : subtree_(subtree),
        room_(subtree),
        leaf_(leaf),
        lanes_(lanes),
        rank_(lane_number() & (lanes - 1)),
        exists_(leaf < 1u << subtree.levels),
        begin_(exists_ ? subtree.first_place(subtree.levels, leaf) : 0),
        count_(exists_ ? subtree.first_place(subtree.levels, leaf + 1) - begin_ : 0),
        values_(reinterpret_cast<T*>(subtree.given.tree.blocks +
                                     (subtree.base + begin_) * subtree.given.shape.point_bytes)) {
    if (exists_ && count_ == 0 && rank_ == 0) *room_.smallest(subtree.levels, leaf) = kNoIndex;
  }

  /// A leaf with a lane for each point.
  __device__ __forceinline__ void write_at_once() const {
    const bool has_one = rank_ < count_;
    const std::uint32_t slot = has_one ? subtree_.order[begin_ + rank_] : 0;
    const std::uint32_t index = has_one ? subtree_.indices[slot] : kNoIndex;
    std::uint32_t place = 0;
#pragma unroll 4
    for (std::uint32_t i = 0; i < lanes_; ++i) {
      place += shuffle(index, lane_number() - rank_ + i) < index ? 1 : 0;
    }
    T* values = values_ + place;
    for (std::uint32_t d = 0; d < subtree_.dims; ++d, values += count_) {
      KeyRange<T> range;
      if (has_one) {
        const T value = subtree_.value(slot, d);
        *values = value;
        range.add(ordered_key(value));
      }
      write_side(d, range);
    }
    if (has_one) write_number(place, index);
  }

  /// A leaf that was sorted.
  __device__ __forceinline__ void write_in_turns() const {
    for (std::uint32_t d = 0; d < subtree_.dims; ++d) {
      KeyRange<T> range;
      for (std::uint32_t i = rank_; i < count_; i += lanes_) {
        const T value = subtree_.value(subtree_.order[begin_ + i], d);
        values_[std::uint64_t{d} * count_ + i] = value;
        range.add(ordered_key(value));
      }
      write_side(d, range);
    }
    for (std::uint32_t i = rank_; i < count_; i += lanes_)
      write_number(i, subtree_.indices[subtree_.order[begin_ + i]]);
  }

 private:
  /// Joins the ranges of the lanes. One half of them goes on with the low end, the other with the high end, whose
  /// complement is as good for a minimum.
  __device__ __forceinline__ void write_side(std::uint32_t d, const KeyRange<T>& own) const {
    using Key = OrderedKey<T>;
    T* box = room_.box(subtree_.levels, exists_ ? leaf_ : 0) + d;
    if (lanes_ == 1) {
      if (!exists_) return;
      box[0] = value_of_key<T>(own.low);
      box[subtree_.dims] = value_of_key<T>(own.high);
      return;
    }
    const bool is_high = rank_ >= lanes_ / 2;
    KeyRange<T> range = own;
    const Key other = shuffle_xor(is_high ? range.low : range.high, lanes_ / 2);
    range.add(is_high ? range.low : other, is_high ? other : range.high);
    Key end = is_high ? static_cast<Key>(~range.high) : range.low;
    for (std::uint32_t step = lanes_ / 4; step > 0; step /= 2) {
      const Key next = shuffle_xor(end, step);
      end = next < end ? next : end;
    }
    if (exists_ && (rank_ & (lanes_ / 2 - 1)) == 0) {
      box[is_high ? subtree_.dims : 0] = value_of_key<T>(is_high ? static_cast<Key>(~end) : end);
    }
  }

  __device__ __forceinline__ void write_number(std::uint32_t place, std::uint32_t index) const {
    const TreeShape& shape = subtree_.given.shape;
    auto* numbers = reinterpret_cast<std::uint32_t*>(values_ + std::uint64_t{shape.dims} * count_);
    numbers[place] = index;
    if (shape.point_bytes != shape.dims * sizeof(T) + sizeof(std::uint32_t)) numbers[count_ + place] = 0;
    if (place == 0) *room_.smallest(subtree_.levels, leaf_) = index;
  }

  const Subtree<T, kStaged>& subtree_;
  NodeRoom<T, kStaged> room_;
  std::uint32_t leaf_, lanes_, rank_;
  bool exists_;
  std::uint32_t begin_, count_;
  T* values_;
};

/// All threads of the block; they have met since the last split, and must meet before the boxes are joined.
template <typename T, bool kStaged>
__device__ __forceinline__ void write_leaves(const Subtree<T, kStaged>& subtree) {
  std::uint32_t width = 1;
  while (width < subtree.given.shape.geometry.most_per_leaf()) width *= 2;
  if (width > kWarp) sort_leaves(subtree, width);
  const std::uint32_t lanes = width < kWarp ? width : kWarp;
  for (std::uint32_t first = 0; first < 1u << subtree.levels; first += threads_per_block() / lanes) {
    const LeafWriter<T, kStaged> writer(subtree, first + thread_number() / lanes, lanes);
    if (width <= kWarp) {
      writer.write_at_once();
    } else {
      writer.write_in_turns();
    }
  }
}

}  // namespace kith::cuda
