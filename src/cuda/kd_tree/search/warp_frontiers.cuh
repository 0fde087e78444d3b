// Nodes that the walk of one warp has put aside: a stack in the lanes, or a queue with two ends in shared memory.
#pragma once

#include "cuda/intrinsics.cuh"
#include "cuda/kd_tree/search/approximate_types.hpp"

namespace kith::cuda {

/// A lane a node: a tree of 32 levels has at most one per level.
template <typename T>
class WarpStack {
 public:
  static constexpr bool kIsQueue = false;
  using Node = engine::BoundedNode<T>;

  /// Needs no memory.
  __device__ WarpStack(std::byte*, std::uint32_t) {}
  __device__ void reset() { count_ = 0; }
  __device__ bool is_empty() const { return count_ == 0; }
  __device__ void push(const Node& node) {
    if (lane_number() == count_) own_ = node;
    ++count_;
  }
  __device__ Node pop() {
    --count_;
    const T bound = shuffle(own_.bound, count_);
    return {bound, shuffle(own_.node, count_)};
  }

 private:
  std::uint32_t count_ = 0;
  Node own_{};
};

/// Sorted, the nearest last; a ring, so that the farthest falls out without a move.
template <typename T>
class WarpQueue {
 public:
  static constexpr bool kIsQueue = true;
  using Node = engine::BoundedNode<T>;

  /// `memory` has room for `capacity` nodes, a power of two.
  __device__ WarpQueue(std::byte* memory, std::uint32_t capacity)
      : nodes_(reinterpret_cast<Node*>(memory)), mask_(capacity - 1) {}
  __device__ void reset() { first_ = count_ = 0; }
  __device__ bool is_empty() const { return count_ == 0; }
  __device__ std::uint32_t count() const { return count_; }
  __device__ Node farthest() const { return at(0); }
  __device__ void drop_farthest() {
    ++first_;
    --count_;
  }
  __device__ Node pop() { return at(--count_); }

  /// The nearer ones move, 32 at a time.
  __device__ void push(const Node& node) {
    std::uint32_t place = count_;
    for (;;) {
      const std::uint32_t from = place - 1 - lane_number();  // lane 0 has the nearest
      const bool is_there = lane_number() < place;
      const Node own = is_there ? at(from) : node;
      const std::uint32_t moving = count_bits(ballot(is_there && own < node));
      sync_warp();  // everybody has read
      if (lane_number() < moving) at(from + 1) = own;
      place -= moving;
      if (moving < kWarp) break;
      sync_warp();
    }
    if (lane_number() == 0) at(place) = node;
    ++count_;
    sync_warp();
  }

 private:
  __device__ Node& at(std::uint32_t i) { return nodes_[(first_ + i) & mask_]; }
  __device__ const Node& at(std::uint32_t i) const { return nodes_[(first_ + i) & mask_]; }

  Node* nodes_;
  std::uint32_t mask_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace kith::cuda
