// Which shards a query may find neighbours in: a binary tree over the boxes of all shards, whose bounds prune as those
// of the nodes of a k-d tree.
#pragma once

#include <kith/shards/shard_map.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace kith::shards {

/// The node of the shards [a, b) has children of [a, c) and [c, b), c = (a + b) / 2, as the cuts have; its box holds
/// theirs. Shards without points are in no node.
template <typename T>
class ShardTree {
 public:
  /// A shard, and a bound of the reduced distances of its points.
  struct Reached {
    T bound = std::numeric_limits<T>::infinity();
    std::uint32_t shard = kNone;
    friend bool operator<(const Reached& a, const Reached& b) {
      return a.bound < b.bound || (a.bound == b.bound && a.shard < b.shard);
    }
  };
  /// What `nearest` finds; no shard: kNone.
  struct Nearest {
    Reached first;
    T next_bound = std::numeric_limits<T>::infinity();  ///< no other shard is nearer
  };
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// Of a map that has bounds.
  explicit ShardTree(const ShardMap& map);

  /// Of the shards with numbers below `below` the one that comes first by (bound, smallest number inside), unless its
  /// bound is above `farthest`. `row` is as it is searched: mapped, and wrapped into periodic axes.
  Nearest nearest(const T* row, T farthest, std::uint64_t below) const;
  /// Adds to `reached` all shards where a point at the bound with the smallest number inside comes before
  /// (reduced, number), and whose bound is not above `farthest`.
  void reach(const T* row, T farthest, T reduced, std::uint64_t number, std::uint64_t below,
             std::vector<Reached>& reached) const;
  /// Adds the shards whose boxes have a place in common with [lower, upper].
  void overlap(const T* lower, const T* upper, std::uint64_t below, std::vector<std::uint32_t>& shards) const;

  bool wraps() const { return !lengths_.empty(); }
  /// Wraps a row that is mapped into periodic axes.
  void wrap(T* row) const;

 private:
  struct Node {
    std::uint32_t shard = kNone;        ///< of a leaf
    std::uint32_t left = 0, right = 0;  ///< children of an inner node
    std::uint64_t smallest = 0;         ///< number inside
  };
  template <typename M>
  class Walk;

  std::uint32_t add(const ShardMap& map, std::uint32_t first, std::uint32_t end);
  const T* lower(std::uint32_t node) const { return boxes_.data() + std::size_t{node} * 2 * dims_; }
  const T* upper(std::uint32_t node) const { return lower(node) + dims_; }

  Metric metric_;
  std::uint32_t dims_ = 0;
  std::uint32_t root_ = kNone;
  std::vector<Node> nodes_;
  std::vector<T> boxes_;    ///< of each node: lower corner, upper corner
  std::vector<T> lengths_;  ///< of periodic axes; empty: none wraps
};

}  // namespace kith::shards
