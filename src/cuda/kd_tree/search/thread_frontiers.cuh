// Nodes that the walk of one thread has put aside: a stack, or a queue with two ends. Both in the thread's own memory,
// which the caches hold.
#pragma once

#include "cuda/kd_tree/search/approximate_types.hpp"

namespace kith::cuda {

/// For trees of fewer than 32 levels: one node per level at most.
template <typename T>
class ThreadStack {
 public:
  static constexpr bool kIsQueue = false;
  using Node = engine::BoundedNode<T, std::uint32_t>;

  __device__ void reset() { count_ = 0; }
  __device__ bool is_empty() const { return count_ == 0; }
  __device__ void push(const Node& node) { nodes_[count_++] = node; }
  __device__ Node pop() { return nodes_[--count_]; }

 private:
  std::uint32_t count_ = 0;
  Node nodes_[32];
};

/// Sorted, the nearest last; a ring, so that the farthest falls out without a move.
template <typename T>
class ThreadQueue {
 public:
  static constexpr bool kIsQueue = true;
  using Node = engine::BoundedNode<T, std::uint32_t>;

  __device__ void reset() { first_ = count_ = 0; }
  __device__ bool is_empty() const { return count_ == 0; }
  __device__ std::uint32_t count() const { return count_; }
  __device__ Node farthest() const { return at(0); }
  __device__ void drop_farthest() {
    ++first_;
    --count_;
  }
  __device__ Node pop() { return at(--count_); }
  /// Most nodes are nearer than those before them.
  __device__ void push(const Node& node) {
    std::uint32_t place = count_++;
    for (; place > 0 && at(place - 1) < node; --place) at(place) = at(place - 1);
    at(place) = node;
  }

 private:
  __device__ Node& at(std::uint32_t i) { return nodes_[(first_ + i) % kMostQueuedByThread]; }
  __device__ const Node& at(std::uint32_t i) const { return nodes_[(first_ + i) % kMostQueuedByThread]; }

  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  Node nodes_[kMostQueuedByThread];
};

}  // namespace kith::cuda
