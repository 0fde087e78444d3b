// See group_search.hpp. Written once, compiled for each instruction set, chosen at run time.
#include "cpu/simd_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/kd_tree/group_search.cpp"
#include <hwy/foreach_target.h>
// The line above must come before the next ones.
#include <hwy/highway.h>

#include "core/dispatch.hpp"
#include "core/metric/reduced_distance.hpp"
#include "cpu/kd_tree/group_search.hpp"
#include "cpu/kd_tree/leaf_scan-inl.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace kith::cpu {
namespace HWY_NAMESPACE {

template <typename T, class M, class Axes, std::uint32_t kDims>
class Walk {
 public:
  Walk(const KdTree<T>& tree, const GroupSearch<T>& search, M metric)
      : tree_(tree),
        search_(search),
        metric_(metric),
        axes_(search.lengths),
        dims_(kDims == core::kRuntimeDims ? tree.dims : kDims),
        first_leaf_(tree.geometry.leaves() - 1),
        reach_(metric.exponent(), dims_) {}

  void run() {
    span_group();
    if constexpr (kIsLp) {
      for (std::uint32_t query = 0; query < kGroupQueries; ++query) {
        reach_.update(search_.limits[query]);
        const bool is_used = search_.limits[query] >= 0;
        largest_[query] = is_used ? reach_.largest : T(-1);
        squares_[query] = is_used ? reach_.squares : T(-1);
      }
    }
    update_limit();
    std::uint64_t node = first_leaf_ + search_.start_leaf;
    visit_leaf(node);
    while (node > 0) {  // the own leaf first, then ever larger surroundings
      visit_subtree(((node - 1) ^ 1) + 1);
      node = (node - 1) / 2;
    }
  }

 private:
  struct Pending {
    std::uint64_t node;
    T distance;
  };
  static constexpr bool kIsLp = std::is_same_v<M, core::Lp>;
  static constexpr std::uint32_t kLanes = hn::MaxLanes(Lanes<T>());
  static constexpr std::uint32_t kVectors = kGroupQueries / kLanes;
  static constexpr std::uint32_t kBoxDims = kDims == core::kRuntimeDims ? 4096 : kDims;

  void span_group() {
    for (std::uint32_t d = 0; d < dims_; ++d) {
      const T* row = search_.values + d * kGroupQueries;
      lower_[d] = upper_[d] = row[0];
      for (std::uint32_t q = 1; q < search_.count; ++q) {
        lower_[d] = row[q] < lower_[d] ? row[q] : lower_[d];
        upper_[d] = core::larger(upper_[d], row[q]);
      }
    }
  }

  /// No query looks farther than this. Unused places hold the lowest limits there are.
  HWY_INLINE void update_limit() {
    const Lanes<T> lanes;
    auto reduced = hn::LoadU(lanes, search_.limits);
    const std::uint32_t end = is_half_ ? kGroupQueries / 2 : kGroupQueries;
    for (std::uint32_t first = kLanes; first < end; first += kLanes) {
      reduced = hn::Max(reduced, hn::LoadU(lanes, search_.limits + first));
    }
    limit_.distance = hn::GetLane(hn::MaxOfLanes(lanes, reduced));
    const hn::CappedTag<std::uint32_t, kGroupQueries> index_lanes;
    auto index = hn::LoadU(index_lanes, search_.limit_indices);
    for (std::uint32_t first = hn::MaxLanes(index_lanes); first < end; first += hn::MaxLanes(index_lanes)) {
      index = hn::Max(index, hn::LoadU(index_lanes, search_.limit_indices + first));
    }
    limit_.index = hn::GetLane(hn::MaxOfLanes(index_lanes, index));
    if constexpr (kIsLp) {
      reach_.largest = *std::max_element(largest_, largest_ + kGroupQueries);
      reach_.squares = *std::max_element(squares_, squares_ + kGroupQueries);
    }
  }

  /// From the box of the group to the box of a node, by the same chain: never above the chain of a pair inside.
  HWY_INLINE T distance_to(std::uint64_t node) const {
    const T* low = tree_.lower(node);
    const T* high = tree_.upper(node);
    if constexpr (kIsLp) {
      T largest = 0, squares = 0;
      for (std::uint32_t d = 0; d < dims_; ++d) {
        const T between = axes_.between(d, lower_[d], upper_[d], low[d], high[d]);
        largest = core::larger(largest, between);
        squares += between * between;
      }
      if (reach_.is_beyond(largest, squares)) return std::numeric_limits<T>::infinity();
    }
    T sum = 0;
    for (std::uint32_t d = 0; d < dims_; ++d) {
      sum = step_between(metric_, axes_, d, sum, lower_[d], upper_[d], low[d], high[d]);
    }
    return core::safe_bound<M>(sum, dims_);
  }

  HWY_INLINE bool is_beyond(const Pending& pending) const {
    if (pending.distance > limit_.distance) return true;  // before anything of the node is read
    if (is_filtered_ && !search_.filter.passes(pending.node, tree_.smallest[pending.node])) return true;
    return pending.distance == limit_.distance && limit_.excludes(pending.distance, tree_.smallest[pending.node]);
  }

  void visit_subtree(std::uint64_t root) {
    Pending stack[64];  // at most one per level
    std::uint32_t depth = 0;
    stack[depth++] = {root, distance_to(root)};
    while (depth > 0) {
      Pending at = stack[--depth];
      while (!is_beyond(at)) {
        if (at.node >= first_leaf_) {
          visit_leaf(at.node);
          break;
        }
        const std::uint64_t child = 2 * at.node + 1;
        if (child >= first_leaf_) {  // the queries' own test is as cheap as the group's
          visit_leaf(child);
          visit_leaf(child + 1);
          break;
        }
        Pending near{child, distance_to(child)};
        Pending far{child + 1, distance_to(child + 1)};
        if (far.distance < near.distance) std::swap(near, far);
        if (!is_beyond(far)) stack[depth++] = far;
        at = near;
      }
    }
  }

  /// Which queries of the group may have a neighbour in the box of a leaf, one bit each. Under Lp by cheap sums: powers
  /// are for the points.
  HWY_INLINE std::uint32_t queries_near(std::uint64_t node) const {
    return is_half_ ? queries_near<(kVectors + 1) / 2>(node) : queries_near<kVectors>(node);
  }
  template <std::uint32_t kTested>
  HWY_INLINE std::uint32_t queries_near(std::uint64_t node) const {
    const Lanes<T> lanes;
    const T* low = tree_.lower(node);
    const T* high = tree_.upper(node);
    if constexpr (kIsLp) {
      hn::Mask<Lanes<T>> near[kTested];
      for (std::uint32_t v = 0; v < kTested; ++v) {
        const auto largest = hn::LoadU(lanes, largest_ + v * kLanes), squares = hn::LoadU(lanes, squares_ + v * kLanes);
        near[v] = within_reach(lanes, largest, squares, dims_, [&](std::uint32_t d) HWY_ATTR {
          const auto query = hn::LoadU(lanes, search_.values + d * kGroupQueries + v * kLanes);
          return axes_.apart(lanes, d, query, hn::Set(lanes, low[d]), hn::Set(lanes, high[d]));
        });
      }
      return static_cast<std::uint32_t>(bits_of(lanes, near));
    }
    hn::Vec<Lanes<T>> sums[kTested];
    for (auto& sum : sums) sum = hn::Zero(lanes);
    for (std::uint32_t d = 0; d < dims_; ++d) {
      const auto lower = hn::Set(lanes, low[d]);
      const auto upper = hn::Set(lanes, high[d]);
      for (std::uint32_t v = 0; v < kTested; ++v) {
        const auto query = hn::LoadU(lanes, search_.values + d * kGroupQueries + v * kLanes);
        sums[v] = step_to_interval(metric_, axes_, d, sums[v], query, lower, upper);
      }
    }
    hn::Mask<Lanes<T>> near[kTested];
    for (std::uint32_t v = 0; v < kTested; ++v) {
      if constexpr (M::kBoundsNeedSlack) sums[v] = hn::Mul(sums[v], hn::Set(lanes, core::safe_bound<M>(T(1), dims_)));
      near[v] = hn::Le(sums[v], hn::LoadU(lanes, search_.limits + v * kLanes));
    }
    return static_cast<std::uint32_t>(bits_of(lanes, near));
  }

  void visit_leaf(std::uint64_t node) {
    std::uint32_t bits = queries_near(node);
    if (bits == 0) return;
    const LeafPoints<T> leaf(tree_, node - first_leaf_);
    bool changed = false;
    for (std::uint32_t first = 0; first < leaf.size; first += kScanPoints) {
      // All scans first: whether a query has hits is hard to predict, so nothing branches on it.
      HWY_ALIGN T reduced[kGroupQueries][kScanPoints];
      std::uint64_t hits[kGroupQueries];
      std::uint32_t queries[kGroupQueries], count = 0;
      for (std::uint32_t rest = bits; rest != 0; rest &= rest - 1) {
        const auto query = static_cast<std::uint32_t>(__builtin_ctz(rest));
        hits[count] = scan_points<kGroupQueries>(leaf, first, search_.values + query, dims_, metric_, axes_,
                                                 reach_of(query), search_.limits[query], reduced[count]);
        queries[count] = query;
        count += hits[count] != 0 ? 1 : 0;
      }
      for (std::uint32_t i = 0; i < count; ++i) {
        take_limit(queries[i], search_.on_hit(search_.context, queries[i], hits[i], reduced[i], leaf.indices + first));
      }
      changed |= count > 0;
    }
    if (changed) update_limit();
  }

  HWY_INLINE ReachOf<T, M> reach_of(std::uint32_t query) const {
    ReachOf<T, M> reach = reach_;
    if constexpr (kIsLp) {
      reach.largest = largest_[query];
      reach.squares = squares_[query];
    }
    return reach;
  }

  HWY_INLINE void take_limit(std::uint32_t query, core::Candidate<T> limit) {
    search_.limits[query] = limit.distance;
    search_.limit_indices[query] = limit.index;
    if constexpr (kIsLp) {
      ReachOf<T, M> reach = reach_;
      reach.update(limit.distance);
      largest_[query] = reach.largest;
      squares_[query] = reach.squares;
    }
  }

  const KdTree<T>& tree_;
  const GroupSearch<T>& search_;
  M metric_;
  Axes axes_;
  std::uint32_t dims_;
  std::uint64_t first_leaf_;
  T lower_[kBoxDims];
  T upper_[kBoxDims];
  bool is_half_ = search_.count <= kGroupQueries / 2;  ///< the second half of all places is unused
  core::Candidate<T> limit_{};
  ReachOf<T, M> reach_;                                ///< of the query that looks farthest
  T largest_[kGroupQueries], squares_[kGroupQueries];  ///< under Lp, the reach of each query
  bool is_filtered_ = search_.filter.end != NodeFilter{}.end || search_.filter.alive != nullptr;
};

template <typename T>
void search_group_of(const KdTree<T>& tree, const GroupSearch<T>& search) {
  core::visit_reduction<core::KdTreeReductions>(search.metric, [&](auto metric) HWY_ATTR {
    using M = decltype(metric);
    // Periodic axes and other metrics than L2 are not worth seven more copies of the walk each.
    if (search.lengths != nullptr) {
      if constexpr (M::kInfo.wraps) {
        Walk<T, M, PeriodicAxes<T>, core::kRuntimeDims>(tree, search, metric).run();
      } else {
        core::refuse_metric();
      }
    } else if constexpr (std::is_same_v<M, core::L2>) {
      visit_simd_dims(tree.dims, [&](auto constant_dims) HWY_ATTR {
        Walk<T, M, PlainAxes<T>, constant_dims.value>(tree, search, metric).run();
      });
    } else {
      Walk<T, M, PlainAxes<T>, core::kRuntimeDims>(tree, search, metric).run();
    }
  });
}

void search_f32(const KdTree<float>& tree, const GroupSearch<float>& search) { search_group_of(tree, search); }
void search_f64(const KdTree<double>& tree, const GroupSearch<double>& search) { search_group_of(tree, search); }

}  // namespace HWY_NAMESPACE
}  // namespace kith::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kith::cpu {

HWY_EXPORT(search_f32);
HWY_EXPORT(search_f64);

template <>
void search_group<float>(const KdTree<float>& tree, const GroupSearch<float>& search) {
  HWY_DYNAMIC_DISPATCH(search_f32)(tree, search);
}

template <>
void search_group<double>(const KdTree<double>& tree, const GroupSearch<double>& search) {
  HWY_DYNAMIC_DISPATCH(search_f64)(tree, search);
}

}  // namespace kith::cpu
#endif  // HWY_ONCE
