// See single_search.hpp. Written once, compiled for each instruction set, chosen at run time.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kd_tree/single_search.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "core/dispatch.hpp"
#include "core/metric/reduced_distance.hpp"
#include "cpu/kd_tree/leaf_scan-inl.hpp"
#include "cpu/kd_tree/single_search.hpp"
#include "engine/kd_tree/walk_order.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

template <typename T, class M, class Axes, std::uint32_t kDims>
class SingleWalk {
 public:
  SingleWalk(const KdTree<T>& tree, const SingleSearch<T>& search, M metric)
      : tree_(tree),
        search_(search),
        metric_(metric),
        axes_(search.lengths),
        dims_(kDims == core::kRuntimeDims ? tree.dims : kDims),
        first_leaf_(tree.geometry.leaves() - 1),
        limit_(search.limit),
        reach_(metric.exponent(), dims_) {
    reach_.update(limit_.distance);
  }

  /// True if nothing that was passed over could have been a neighbour.
  bool run() {
    if (engine::takes_queue(search_.max_leaves)) {
      walk_nearest_first();
    } else {
      walk_depth_first();
    }
    return !missed_ || limit_.excludes(missed_->distance, missed_->index);
  }

 private:
  using Node = engine::BoundedNode<T>;

  Node bounded(std::uint64_t node) const {
    const T* low = tree_.lower(node);
    const T* high = tree_.upper(node);
    T sum = 0;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      sum = step_between(metric_, axes_, d, sum, search_.query[d], search_.query[d], low[d], high[d]);
    }
    return {core::safe_bound<M>(sum, dims_), node};
  }

  /// True if the node need not be looked at; notes it if that is not certain.
  bool passes_over(const Node& node) {
    const std::uint32_t smallest = tree_.smallest[node.node];
    if (!search_.filter.passes(node.node, smallest)) return true;
    if (limit_.excludes(node.bound, smallest)) return true;
    // Only a k-th neighbour may be missed by a little; a bound is a bound.
    if (search_.shrink == T(1) || limit_.index == core::kNoPoint) return false;
    // Beyond, not at: among denormals the product may round down to the bound, even to zero.
    if (!(node.bound > limit_.distance * search_.shrink)) return false;
    note_missed(node);
    return true;
  }

  /// Of everything passed over the first by (bound, smallest index) decides whether the answer is certain.
  void note_missed(const Node& node) {
    const core::Candidate<T> missed{node.bound, tree_.smallest[node.node]};
    if (!missed_ || missed < *missed_) missed_ = missed;
  }

  void visit_leaf(std::uint64_t node) {
    const LeafPoints<T> leaf(tree_, node - first_leaf_);
    for (std::uint32_t first = 0; first < leaf.size; first += kScanPoints) {
      HWY_ALIGN T reduced[kScanPoints];
      const std::uint64_t hits =
          scan_points<1>(leaf, first, search_.query, dims_, metric_, axes_, reach_, limit_.distance, reduced);
      if (hits == 0) continue;
      limit_ = search_.on_hit(search_.context, search_.place, hits, reduced, leaf.indices + first);
      reach_.update(limit_.distance);
    }
    ++leaves_;
  }

  bool is_spent() const { return search_.max_leaves != 0 && leaves_ == search_.max_leaves; }

  void walk_depth_first() {
    Node stack[64];  // at most one per level
    std::uint32_t depth = 0;
    stack[depth++] = bounded(0);
    while (depth > 0) {
      Node at = stack[--depth];
      while (!passes_over(at)) {
        if (is_spent()) {
          note_missed(at);
          break;
        }
        if (at.node >= first_leaf_) {
          visit_leaf(at.node);
          break;
        }
        Node near = bounded(2 * at.node + 1), far = bounded(2 * at.node + 2);
        if (far < near) std::swap(near, far);
        stack[depth++] = far;
        at = near;
      }
    }
  }

  /// A leaf per round. The queue, sorted, holds no more nodes than there are leaves left to visit: later ones would
  /// never be taken.
  void walk_nearest_first() {
    std::array<Node, engine::kMostQueued + 1> queue;  // nearest last
    std::uint32_t queued = 0;
    queue[queued++] = bounded(0);
    while (queued > 0) {
      Node at = queue[--queued];
      while (!passes_over(at)) {
        if (is_spent()) {
          note_missed(at);
          break;
        }
        if (at.node >= first_leaf_) {
          visit_leaf(at.node);
          break;
        }
        Node near = bounded(2 * at.node + 1), far = bounded(2 * at.node + 2);
        if (far < near) std::swap(near, far);
        if (!passes_over(far)) {
          const auto end = queue.begin() + queued;
          const auto place = std::find_if(queue.begin(), end, [&](const Node& node) { return node < far; });
          std::copy_backward(place, end, end + 1);
          *place = far;
          if (++queued > search_.max_leaves - leaves_) {  // the farthest falls out
            note_missed(queue[0]);
            std::copy(queue.begin() + 1, queue.begin() + queued, queue.begin());
            --queued;
          }
        }
        at = near;
      }
    }
  }

  const KdTree<T>& tree_;
  const SingleSearch<T>& search_;
  M metric_;
  Axes axes_;
  std::uint32_t dims_;
  std::uint64_t first_leaf_;
  core::Candidate<T> limit_;
  ReachOf<T, M> reach_;
  std::uint32_t leaves_ = 0;
  std::optional<core::Candidate<T>> missed_;  ///< the first of what was passed over
};

template <typename T>
bool search_single_of(const KdTree<T>& tree, const SingleSearch<T>& search) {
  return core::visit_reduction<core::KdTreeReductions>(search.metric, [&](auto metric) HWY_ATTR {
    using M = decltype(metric);
    // Periodic axes and other metrics than L2 are not worth seven more copies of the walk each.
    if constexpr (M::kInfo.wraps) {
      if (search.lengths != nullptr) {
        return SingleWalk<T, M, PeriodicAxes<T>, core::kRuntimeDims>(tree, search, metric).run();
      }
    }
    if constexpr (std::is_same_v<M, core::L2>) {
      return visit_simd_dims(tree.dims, [&](auto constant_dims) HWY_ATTR {
        return SingleWalk<T, M, PlainAxes<T>, constant_dims.value>(tree, search, metric).run();
      });
    } else {
      return SingleWalk<T, M, PlainAxes<T>, core::kRuntimeDims>(tree, search, metric).run();
    }
  });
}

bool search_f32(const KdTree<float>& tree, const SingleSearch<float>& search) { return search_single_of(tree, search); }
bool search_f64(const KdTree<double>& tree, const SingleSearch<double>& search) {
  return search_single_of(tree, search);
}

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(search_f32);
HWY_EXPORT(search_f64);

template <>
bool search_single<float>(const KdTree<float>& tree, const SingleSearch<float>& search) {
  return HWY_DYNAMIC_DISPATCH(search_f32)(tree, search);
}

template <>
bool search_single<double>(const KdTree<double>& tree, const SingleSearch<double>& search) {
  return HWY_DYNAMIC_DISPATCH(search_f64)(tree, search);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
