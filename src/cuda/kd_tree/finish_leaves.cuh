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

/// All threads of the block; they have met since the last split, and must meet before the boxes are joined.
template <typename T, bool kStaged>
__device__ __forceinline__ void write_leaves(const Subtree<T, kStaged>& subtree) {
  const TreeArrays<T>& tree = subtree.given.tree;
  const TreeShape& shape = subtree.given.shape;
  const NodeRoom<T, kStaged> room(subtree);
  const std::uint32_t depth = subtree.levels, dims = subtree.dims, leaves = 1u << depth;
  std::uint32_t width = 1;
  while (width < shape.geometry.most_per_leaf()) width *= 2;
  if (width > kWarp) sort_leaves(subtree, width);
  const std::uint32_t lanes = width < kWarp ? width : kWarp;  // that work on a leaf
  const std::uint32_t rank = thread_number() & (lanes - 1), first_lane = lane_number() - rank;
  const bool is_padded = shape.point_bytes != dims * sizeof(T) + sizeof(std::uint32_t);

  for (std::uint32_t first = 0; first < leaves; first += threads_per_block() / lanes) {
    const std::uint32_t leaf = first + thread_number() / lanes;
    const bool exists = leaf < leaves;
    const std::uint32_t begin = exists ? subtree.first_place(depth, leaf) : 0;
    const std::uint32_t count = exists ? subtree.first_place(depth, leaf + 1) - begin : 0;
    T* values = reinterpret_cast<T*>(tree.blocks + (subtree.base + begin) * shape.point_bytes);
    auto* numbers = reinterpret_cast<std::uint32_t*>(values + std::uint64_t{dims} * count);

    std::uint32_t own_place = rank;  // of this thread's point in the block, if it has but one
    if (width <= kWarp) {
      const std::uint32_t index = rank < count ? subtree.indices[subtree.order[begin + rank]] : kNoIndex;
      own_place = 0;
      for (std::uint32_t i = 0; i < lanes; ++i) own_place += shuffle(index, first_lane + i) < index ? 1 : 0;
    }
    for (std::uint32_t d = 0; d < dims; ++d) {
      KeyRange<T> range;
      for (std::uint32_t i = rank, place = own_place; i < count; i += lanes, place += lanes) {
        const T value = subtree.value(subtree.order[begin + i], d);
        values[std::uint64_t{d} * count + place] = value;
        range.add(ordered_key(value));
      }
      sync_warp();
      range.join_lanes(lanes);
      if (exists && rank == 0) {
        T* box = room.box(depth, leaf);
        box[d] = value_of_key<T>(range.low);
        box[dims + d] = value_of_key<T>(range.high);
      }
    }
    for (std::uint32_t i = rank, place = own_place; i < count; i += lanes, place += lanes) {
      const std::uint32_t index = subtree.indices[subtree.order[begin + i]];
      numbers[place] = index;
      if (is_padded) numbers[count + place] = 0;
      if (place == 0) *room.smallest(depth, leaf) = index;
    }
    if (exists && count == 0 && rank == 0) *room.smallest(depth, leaf) = kNoIndex;
  }
}

}  // namespace kith::cuda
