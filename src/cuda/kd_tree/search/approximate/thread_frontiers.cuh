// Nodes that the walk of one thread has put aside: a stack, or a queue with two ends. The nodes lie in the thread's own
// memory, which the caches hold; apart from the rest, which can stay in registers so.
#pragma once

#include "cuda/kd_tree/search/approximate/approximate_types.hpp"
#include "cuda/kd_tree/search/approximate/node_ring.cuh"

namespace kith::cuda {

template <typename T>
using ThreadNode = engine::BoundedNode<T, std::uint32_t>;

/// Room for a stack: trees that threads walk have fewer than 32 levels, and one node per level is put aside at most.
inline constexpr std::uint32_t kMostPutAside = 32;
static_assert(kMostPutAside >= kMostQueuedByThread);

template <typename T>
class ThreadStack {
 public:
  static constexpr bool kIsQueue = false;
  using Node = ThreadNode<T>;

  /// `nodes` has room for kMostPutAside.
  __device__ explicit ThreadStack(Node* nodes) : nodes_(nodes) {}
  __device__ void reset() { count_ = 0; }
  __device__ bool is_empty() const { return count_ == 0; }
  __device__ void push(const Node& node) { nodes_[count_++] = node; }
  __device__ Node pop() { return nodes_[--count_]; }

 private:
  std::uint32_t count_ = 0;
  Node* nodes_;
};

template <typename T>
class ThreadQueue : public NodeRing<ThreadNode<T>> {
 public:
  using Node = ThreadNode<T>;

  /// `nodes` has room for kMostPutAside.
  __device__ explicit ThreadQueue(Node* nodes) : NodeRing<Node>(nodes, kMostPutAside) {}

  /// Most nodes are nearer than those before them.
  __device__ void push(const Node& node) {
    std::uint32_t place = this->count_++;
    for (; place > 0 && this->at(place - 1) < node; --place) this->at(place) = this->at(place - 1);
    this->at(place) = node;
  }
};

}  // namespace kith::cuda
