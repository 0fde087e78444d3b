// The walk of one query through the binary tree in the order that the answer of an approximate search depends on:
// engine/kd_tree/walk_order.hpp. By a thread alone, or by a warp all of whose lanes do the same.
//
// A node is passed over at the moments at which the CPU does it, with the limit of that moment, but for one: depth
// first, the farther child is also looked at before it is put aside. Limits only fall, so what is passed over then
// would be passed over later, and the certificate stays the same: it asks at the end whether everything that was missed
// lies beyond the limit, and what lay beyond a limit once still does.
#pragma once

#include "cuda/primitives/intrinsics.cuh"
#include "cuda/kd_tree/search/approximate/approximate_types.hpp"
#include "cuda/primitives/candidate_warp.cuh"

namespace kith::cuda {

/// `Scout` measures nodes, `Frontier` holds those that are put aside, `List` the neighbours so far.
template <typename T, typename Scout, typename Frontier, typename List>
class ApproximateWalk {
  using Node = typename Frontier::Node;
  using Number = decltype(Node::node);

 public:
  /// `end`: only points below this number count.
  __device__ ApproximateWalk(const ApproximateTask<T>& task, std::uint32_t end, Scout& scout, Frontier& frontier,
                             const List& list)
      : task_(task),
        tree_(task.knn.tree),
        scout_(scout),
        frontier_(frontier),
        list_(list),
        first_leaf_(static_cast<Number>(tree_.geometry.leaves() - 1)),
        end_(end),
        missed_(last_candidate<T>()) {
    frontier_.reset();
    frontier_.push({scout.to_root(), 0});
  }

  /// Goes to the next leaf to visit. False: there is none.
  __device__ bool find_leaf() {
    while (!frontier_.is_empty()) {
      Node at = frontier_.pop();
      while (!passes_over(at)) {
        if (is_spent()) {
          note_missed(at);
          break;
        }
        if (at.node >= first_leaf_) {
          leaf_ = at.node - first_leaf_;
          ++leaves_;
          return true;
        }
        Node near{T(0), static_cast<Number>(2 * at.node + 1)}, far{T(0), static_cast<Number>(2 * at.node + 2)};
        scout_.to_children(at.node, near.bound, far.bound);
        if (far < near) {
          const Node other = near;
          near = far;
          far = other;
        }
        if (!passes_over(far)) put_aside(far);
        at = near;
      }
    }
    return false;
  }
  /// The leaf that was found.
  __device__ std::uint64_t leaf() const { return leaf_; }
  /// At the end: whether nothing that was passed over could have been a neighbour.
  __device__ bool is_certain() const { return !(missed_ < list_.limit()); }

 private:
  __device__ bool is_spent() const { return task_.max_leaves != 0 && leaves_ == task_.max_leaves; }

  /// True if the node need not be looked at; notes it if that is not certain.
  __device__ bool passes_over(const Node& node) {
    const Candidate<T>& limit = list_.limit();
    if (node.bound > limit.distance) return true;
    const bool ties = node.bound == limit.distance;
    if (ties || end_ != kNoPoint) {
      const std::uint32_t smallest = tree_.smallest[node.node];
      if (smallest >= end_ || (ties && limit.excludes(node.bound, smallest))) return true;
    }
    // Only a k-th neighbour may be missed by a little; a bound is a bound.
    if (task_.shrink == T(1) || limit.index == kNoPoint) return false;
    if (!(node.bound > limit.distance * task_.shrink)) return false;
    note_missed(node);
    return true;
  }

  /// Of everything that was missed the first by (bound, smallest number) decides whether the answer is certain.
  __device__ void note_missed(const Node& node) {
    const Candidate<T> missed{node.bound, tree_.smallest[node.node]};
    if (missed < missed_) missed_ = missed;
  }

  __device__ void put_aside(const Node& node) {
    if constexpr (Frontier::kIsQueue) {
      if (frontier_.count() == task_.max_leaves - leaves_) {  // the farthest falls out
        const Node farthest = frontier_.farthest();
        if (farthest < node) return note_missed(node);
        note_missed(farthest);
        frontier_.drop_farthest();
      }
    }
    frontier_.push(node);
  }

  const ApproximateTask<T>& task_;
  const SearchTree<T>& tree_;
  Scout& scout_;
  Frontier& frontier_;
  const List& list_;
  Number first_leaf_;
  Number leaf_ = 0;
  std::uint32_t end_;
  std::uint32_t leaves_ = 0;
  Candidate<T> missed_;
};

}  // namespace kith::cuda
