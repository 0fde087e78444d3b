// See shard_tree.hpp.
#include "shards/shard_tree.hpp"

#include "core/metric/period.hpp"
#include "core/metric/reduced_distance.hpp"
#include "core/query_row.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

namespace kith::shards {

template <typename T>
ShardTree<T>::ShardTree(const ShardMap& map) : metric_(map.rules.metric) {
  for (const ShardFacts& shard : map.shards) dims_ = std::max(dims_, static_cast<std::uint32_t>(shard.lower.size()));
  if (dims_ == 0) return;  // no points
  lengths_ = core::period_lengths<T>(map.rules.period, dims_, metric_);
  root_ = add(map, 0, map.size());
}

/// The node of some shards, children first; kNone if none of them has points.
template <typename T>
std::uint32_t ShardTree<T>::add(const ShardMap& map, std::uint32_t first, std::uint32_t end) {
  Node node;
  std::vector<T> box(2 * dims_);
  if (end - first == 1) {
    const ShardFacts& shard = map.shards[first];
    if (shard.points == 0) return kNone;
    node.shard = first;
    node.smallest = shard.smallest;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      box[d] = static_cast<T>(shard.lower[d]);
      box[dims_ + d] = static_cast<T>(shard.upper[d]);
    }
  } else {
    const std::uint32_t middle = first + (end - first) / 2;
    node.left = add(map, first, middle);
    node.right = add(map, middle, end);
    if (node.left == kNone) return node.right;
    if (node.right == kNone) return node.left;
    node.smallest = std::min(nodes_[node.left].smallest, nodes_[node.right].smallest);
    for (std::uint32_t d = 0; d < dims_; ++d) {
      box[d] = std::min(lower(node.left)[d], lower(node.right)[d]);
      box[dims_ + d] = std::max(upper(node.left)[d], upper(node.right)[d]);
    }
  }
  nodes_.push_back(node);
  boxes_.insert(boxes_.end(), box.begin(), box.end());
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

/// Down the tree by one metric, nearer children first.
template <typename T>
template <typename M>
class ShardTree<T>::Walk {
 public:
  Walk(const ShardTree& tree, const M& metric, const T* row, T farthest, std::uint64_t below)
      : tree_(tree), metric_(metric), row_(row), farthest_(farthest), below_(below) {}

  Nearest nearest() {
    if (tree_.root_ != kNone) look_for_nearest(tree_.root_, bound(tree_.root_));
    return nearest_;
  }
  void reach(T reduced, std::uint64_t number, std::vector<Reached>& reached) const {
    if (tree_.root_ != kNone) reach(tree_.root_, reduced, number, reached);
  }

 private:
  /// A step of no gap adds nothing.
  T bound(std::uint32_t node) const {
    const T *lower = tree_.lower(node), *upper = tree_.upper(node);
    const T* lengths = tree_.lengths_.empty() ? nullptr : tree_.lengths_.data();
    T sum = 0;
    for (std::uint32_t d = 0; d < tree_.dims_; ++d) {
      if constexpr (M::kIsOfDifferences) {
        const T gap = lengths != nullptr ? core::shorter_way_to_interval(row_[d], lower[d], upper[d], lengths[d])
                                         : core::larger(lower[d] - row_[d], row_[d] - upper[d]);
        if (gap > T(0)) sum = core::step_of_gap(metric_, sum, gap);
      } else {
        sum = core::step_to_interval(metric_, sum, row_[d], lower[d], upper[d]);
      }
    }
    return core::safe_bound<M>(sum, tree_.dims_);
  }

  void look_for_nearest(std::uint32_t number, T bound_of_node) {
    const Node& node = tree_.nodes_[number];
    if (bound_of_node > farthest_ || node.smallest >= below_) return;
    const bool is_first = nearest_.first.shard == kNone || bound_of_node < nearest_.first.bound ||
                          (bound_of_node == nearest_.first.bound && node.smallest < smallest_of_first_);
    if (!is_first && bound_of_node >= nearest_.next_bound) return;
    if (node.shard != kNone) {
      nearest_.next_bound = std::min(nearest_.next_bound, is_first ? nearest_.first.bound : bound_of_node);
      if (!is_first) return;
      nearest_.first = {bound_of_node, node.shard};
      smallest_of_first_ = node.smallest;
      return;
    }
    const T left = bound(node.left), right = bound(node.right);
    if (right < left) {
      look_for_nearest(node.right, right);
      look_for_nearest(node.left, left);
    } else {
      look_for_nearest(node.left, left);
      look_for_nearest(node.right, right);
    }
  }

  void reach(std::uint32_t number, T reduced, std::uint64_t last, std::vector<Reached>& reached) const {
    const Node& node = tree_.nodes_[number];
    if (node.smallest >= below_) return;
    const T least = bound(number);
    if (least > farthest_ || !(least < reduced || (least == reduced && node.smallest < last))) return;
    if (node.shard != kNone) {
      reached.push_back({least, node.shard});
      return;
    }
    reach(node.left, reduced, last, reached);
    reach(node.right, reduced, last, reached);
  }

  const ShardTree& tree_;
  const M& metric_;
  const T* row_;
  T farthest_;
  std::uint64_t below_;
  Nearest nearest_;
  std::uint64_t smallest_of_first_ = 0;
};

template <typename T>
typename ShardTree<T>::Nearest ShardTree<T>::nearest(const T* row, T farthest, std::uint64_t below) const {
  return core::visit_reduction<core::KdTreeReductions>(metric_, [&](const auto& metric) {
    return Walk<std::remove_cvref_t<decltype(metric)>>(*this, metric, row, farthest, below).nearest();
  });
}

template <typename T>
void ShardTree<T>::reach(const T* row, T farthest, T reduced, std::uint64_t number, std::uint64_t below,
                         std::vector<Reached>& reached) const {
  core::visit_reduction<core::KdTreeReductions>(metric_, [&](const auto& metric) {
    Walk<std::remove_cvref_t<decltype(metric)>>(*this, metric, row, farthest, below).reach(reduced, number, reached);
  });
}

template <typename T>
void ShardTree<T>::overlap(const T* from, const T* to, std::uint64_t below, std::vector<std::uint32_t>& shards) const {
  std::array<std::uint32_t, 64> stack;  // the tree has at most 12 levels
  std::size_t waiting = 0;
  if (root_ != kNone) stack[waiting++] = root_;
  while (waiting > 0) {
    const std::uint32_t number = stack[--waiting];
    const Node& node = nodes_[number];
    bool overlaps = node.smallest < below;
    for (std::uint32_t d = 0; d < dims_ && overlaps; ++d) {
      overlaps = from[d] <= upper(number)[d] && to[d] >= lower(number)[d];
    }
    if (!overlaps) continue;
    if (node.shard != kNone) {
      shards.push_back(node.shard);
    } else {
      stack[waiting++] = node.right;
      stack[waiting++] = node.left;
    }
  }
}

template <typename T>
void ShardTree<T>::wrap(T* row) const {
  for (std::size_t d = 0; d < lengths_.size(); ++d) row[d] = core::wrapped(row[d], lengths_[d]);
}

template class ShardTree<float>;
template class ShardTree<double>;

}  // namespace kith::shards
