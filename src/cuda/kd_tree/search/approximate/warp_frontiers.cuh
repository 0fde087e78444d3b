// Nodes that the walk of one warp has put aside: a stack in the lanes, or a queue with two ends in shared memory.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/approximate/approximate_types.hpp"
#include "cuda/kd_tree/search/approximate/node_ring.cuh"

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

template <typename T>
class WarpQueue : public NodeRing<engine::BoundedNode<T>> {
 public:
  using Node = engine::BoundedNode<T>;

  /// `memory` has room for `capacity` nodes, a power of two.
  __device__ WarpQueue(std::byte* memory, std::uint32_t capacity)
      : NodeRing<Node>(reinterpret_cast<Node*>(memory), capacity) {}

  /// The nearer ones move, 32 at a time.
  __device__ void push(const Node& node) {
    std::uint32_t place = this->count_;
    for (;;) {
      const std::uint32_t from = place - 1 - lane_number();  // lane 0 has the nearest
      const bool is_there = lane_number() < place;
      const Node own = is_there ? this->at(from) : node;
      const std::uint32_t moving = count_bits(ballot(is_there && own < node));
      sync_warp();  // everybody has read
      if (lane_number() < moving) this->at(from + 1) = own;
      place -= moving;
      if (moving < kWarp) break;
      sync_warp();
    }
    if (lane_number() == 0) this->at(place) = node;
    ++this->count_;
    sync_warp();
  }
};

}  // namespace kith::cuda
