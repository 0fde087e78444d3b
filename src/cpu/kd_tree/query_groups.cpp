// See query_groups.hpp.
#include "cpu/kd_tree/query_groups.hpp"

#include "runtime/parallel.hpp"

#include <algorithm>

namespace kith::cpu {

/// The surroundings of a leaf and its sibling inside which queries see about the same leaves: the box of both and some
/// part of a typical side around it. Leaves that straddle clusters are not typical, and both may be such ones: the
/// smallest of the leaves nearby tells what is, and stands for them.
template <typename T>
class NearLeaf {
 public:
  NearLeaf(const KdTree<T>& tree, std::uint64_t leaf) : tree_(tree) {
    const std::uint64_t leaves = tree.geometry.leaves(), first = leaf / kLeavesNearby * kLeavesNearby;
    for (std::uint64_t other = first; other < std::min(leaves, first + kLeavesNearby); ++other) {
      const T side = longest_side(leaves - 1 + other);
      node_ = other == first || side < side_ ? leaves - 1 + other : node_;
      side_ = other == first || side < side_ ? side : side_;
    }
    const std::uint64_t both = leaves == 1 ? 0 : (leaves - 2 + leaf) / 2;
    if (longest_side(both) <= T(kStraddlingSides) * side_) node_ = both;
  }

  bool is_near(const T* query) const {
    T outside = 0;
    for (std::uint32_t d = 0; d < tree_.dims; ++d) {
      const T below = tree_.lower(node_)[d] - query[d], above = query[d] - tree_.upper(node_)[d];
      outside += std::max(std::max(below, above), T(0));
    }
    return outside <= T(kNearSides) * side_;
  }

 private:
  T longest_side(std::uint64_t node) const {
    T longest = 0;
    for (std::uint32_t d = 0; d < tree_.dims; ++d) {
      longest = std::max(longest, tree_.upper(node)[d] - tree_.lower(node)[d]);
    }
    return longest;
  }

  const KdTree<T>& tree_;
  std::uint64_t node_ = 0;
  T side_ = 0;
};

template <typename T>
QueryGroups<T>::QueryGroups(const KdTree<T>& tree, const engine::QueryBatch<T>& batch, int threads)
    : tree_(tree),
      batch_(batch),
      leaves_(tree.geometry.levels > 0 && 2 * tree.geometry.most_per_leaf() <= kGroupQueries ? 2 : 1),
      chunks_(static_cast<std::uint32_t>(
          std::max<std::uint64_t>(1, (tree.geometry.most_per_leaf() + kGroupQueries - 1) / kGroupQueries))) {
  if (!batch.is_self()) sort_by_leaf(threads);
}

/// Several queries go down the levels together, so that their loads overlap.
template <typename T>
void QueryGroups<T>::find_leaves(std::uint64_t first, std::uint64_t end) {
  std::uint64_t nodes[kGroupQueries] = {};
  for (std::uint32_t level = 0; level < tree_.geometry.levels; ++level) {
    for (std::uint64_t q = first; q < end; ++q) nodes[q - first] = tree_.child_towards(nodes[q - first], batch_.row(q));
  }
  for (std::uint64_t q = first; q < end; ++q) {
    leaf_of_[q] = static_cast<std::uint32_t>(nodes[q - first] - (tree_.geometry.leaves() - 1));
  }
}

template <typename T>
void QueryGroups<T>::sort_by_leaf(int threads) {
  constexpr std::uint64_t kBlock = 4096;
  leaf_of_.resize(batch_.count);
  runtime::parallel_for((batch_.count + kBlock - 1) / kBlock, {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(batch_.count, (block + 1) * kBlock);
    for (std::uint64_t q = block * kBlock; q < end; q += kGroupQueries)
      find_leaves(q, std::min(end, q + kGroupQueries));
  });
  order_.resize(batch_.count);
  if (batch_.count < tree_.geometry.leaves() / 8) {  // few queries: no need to look at all leaves
    for (std::uint64_t q = 0; q < batch_.count; ++q) order_[q] = q;
    std::sort(order_.begin(), order_.end(), [&](std::uint64_t a, std::uint64_t b) {
      return leaf_of_[a] != leaf_of_[b] ? leaf_of_[a] < leaf_of_[b] : a < b;
    });
  } else {
    std::vector<std::uint64_t> place(tree_.geometry.leaves() + 1, 0);
    for (const std::uint32_t leaf : leaf_of_) ++place[leaf + 1];
    for (std::uint64_t leaf = 0; leaf < tree_.geometry.leaves(); ++leaf) place[leaf + 1] += place[leaf];
    for (std::uint64_t q = 0; q < batch_.count; ++q) order_[place[leaf_of_[q]]++] = q;
  }
  // A group ends when it is full or the next query is not in the same pair of leaves.
  starts_.push_back(0);
  for (std::uint64_t i = 1; i < batch_.count; ++i) {
    const std::uint64_t first = starts_.back();
    if (i - first == kGroupQueries || leaf_of_[order_[i]] / 2 != leaf_of_[order_[first]] / 2) starts_.push_back(i);
  }
  if (batch_.count > 0) starts_.push_back(batch_.count);
}

template <typename T>
void QueryGroups<T>::load(std::uint64_t g, QueryGroup<T>& group) const {
  const std::uint32_t dims = tree_.dims;
  group.values.resize(std::size_t{dims} * kGroupQueries);
  if (batch_.is_self()) {
    const auto first = static_cast<std::uint32_t>(g % chunks_) * kGroupQueries;
    group.start_leaf = g / chunks_ * leaves_;
    group.count = 0;
    for (std::uint64_t leaf = group.start_leaf; leaf < group.start_leaf + leaves_; ++leaf) {
      const std::uint32_t size = tree_.leaf_count(leaf), end = std::min(size, first + kGroupQueries);
      if (first >= end) continue;
      std::copy(tree_.block_indices(leaf) + first, tree_.block_indices(leaf) + end, group.queries + group.count);
      for (std::uint32_t d = 0; d < dims; ++d) {
        const T* from = tree_.block(leaf) + std::size_t{d} * tree_.block_stride(leaf);
        std::copy(from + first, from + end, group.values.data() + std::size_t{d} * kGroupQueries + group.count);
      }
      group.count += end - first;
    }
    group.near = group.count;
    return;
  }
  group.count = static_cast<std::uint32_t>(starts_[g + 1] - starts_[g]);
  for (std::uint32_t i = 0; i < group.count; ++i) group.queries[i] = order_[starts_[g] + i];
  group.start_leaf = leaf_of_[group.queries[group.count / 2]];
  const NearLeaf<T> leaf(tree_, group.start_leaf);
  const auto far = std::partition(group.queries, group.queries + group.count,
                                  [&](std::uint64_t query) { return leaf.is_near(batch_.row(query)); });
  group.near = static_cast<std::uint32_t>(far - group.queries);
  for (std::uint32_t i = 0; i < group.near; ++i) {
    const T* row = batch_.row(group.queries[i]);
    for (std::uint32_t d = 0; d < dims; ++d) group.values[d * kGroupQueries + i] = row[d];
  }
  const std::uint64_t next = starts_[g + 1], last = g + 2 < starts_.size() ? starts_[g + 2] : next;
  for (std::uint64_t i = next; i < last; ++i) __builtin_prefetch(batch_.row(order_[i]));  // rows lie anywhere
}

template class QueryGroups<float>;
template class QueryGroups<double>;

}  // namespace kith::cpu
