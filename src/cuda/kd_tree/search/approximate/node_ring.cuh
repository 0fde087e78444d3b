// A sorted queue with two ends of nodes that a walk has put aside, in a ring, so that the farthest falls out without a
// move. Who puts nodes in keeps them sorted.
#pragma once

#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

template <typename NodeType>
class NodeRing {
 public:
  static constexpr bool kIsQueue = true;
  using Node = NodeType;

  __device__ void reset() { first_ = count_ = 0; }
  __device__ bool is_empty() const { return count_ == 0; }
  __device__ std::uint32_t count() const { return count_; }
  __device__ Node farthest() const { return nodes_[first_ & mask_]; }
  __device__ void drop_farthest() {
    ++first_;
    --count_;
  }
  /// The nearest, which comes last.
  __device__ Node pop() { return at(--count_); }

 protected:
  /// `nodes` has room for `capacity` nodes, a power of two.
  __device__ NodeRing(Node* nodes, std::uint32_t capacity) : nodes_(nodes), mask_(capacity - 1) {}

  /// From the farthest on.
  __device__ Node& at(std::uint32_t i) { return nodes_[(first_ + i) & mask_]; }

  std::uint32_t count_ = 0;

 private:
  Node* nodes_;
  std::uint32_t mask_;
  std::uint32_t first_ = 0;
};

}  // namespace kith::cuda
