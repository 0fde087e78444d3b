// All metrics, and from a kind that is known at run time to the struct that defines it.
#pragma once

#include "core/metric/angular.hpp"
#include "core/metric/braycurtis.hpp"
#include "core/metric/canberra.hpp"
#include "core/metric/cosine.hpp"
#include "core/metric/haversine.hpp"
#include "core/metric/inner_product.hpp"
#include "core/metric/l1.hpp"
#include "core/metric/l2.hpp"
#include "core/metric/linf.hpp"
#include "core/metric/lp.hpp"
#include "core/metric/mahalanobis.hpp"
#include "core/metric/seuclidean.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace kith::core {

template <typename... M>
struct MetricList {};

/// In the order of their kinds. A metric that is missing here does not exist.
using AllMetrics = MetricList<L2, L1, Linf, Lp, Cosine, InnerProduct, Angular, Canberra, Haversine, StandardizedL2,
                              Mahalanobis, BrayCurtis>;

template <typename... M>
constexpr std::array<MetricInfo, sizeof...(M)> infos_of(MetricList<M...>) {
  return {M::kInfo...};
}
inline constexpr auto kMetricTable = infos_of(AllMetrics{});

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kMetricTable.size(); ++i) {
    if (static_cast<std::size_t>(kMetricTable[i].kind) != i) return false;
  }
  return true;
}
static_assert(are_in_order(), "a kind is the place of its metric in the list");

// Which metrics a visitor is compiled for.
struct EveryMetric {
  template <typename M>
  static constexpr bool kTakes = true;
};
/// Those that searches compare by.
struct EveryReduction {
  template <typename M>
  static constexpr bool kTakes = std::is_same_v<M, typename M::Reduction>;
};
struct KdTreeReductions {
  template <typename M>
  static constexpr bool kTakes = EveryReduction::kTakes<M>&& M::kInfo.has_kd_tree;
};
struct CoverTreeReductions {
  template <typename M>
  static constexpr bool kTakes = EveryReduction::kTakes<M>&& M::kInfo.has_cover_tree;
};

template <typename Takes, typename... Taken>
constexpr MetricList<Taken...> metrics_for(MetricList<>, MetricList<Taken...> taken) {
  return taken;
}
template <typename Takes, typename M, typename... Rest, typename... Taken>
constexpr auto metrics_for(MetricList<M, Rest...>, MetricList<Taken...>) {
  using Next = std::conditional_t<Takes::template kTakes<M>, MetricList<Taken..., M>, MetricList<Taken...>>;
  return metrics_for<Takes>(MetricList<Rest...>{}, Next{});
}

/// A metric came where it is not compiled for, which validation should have refused by name.
[[noreturn]] KITH_HOST_DEVICE inline void refuse_metric() {
#if defined(__CUDA_ARCH__)
  __trap();
#else
  throw std::logic_error("a metric reached code that is not compiled for it");
#endif
}

#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <typename F, typename M, typename... Rest>
KITH_HOST_DEVICE decltype(auto) visit_listed(Metric::Kind kind, double p, F&& f, MetricList<M, Rest...>) {
  if constexpr (sizeof...(Rest) == 0) {
    if (kind != M::kInfo.kind) refuse_metric();
    return std::forward<F>(f)(M(p));
  } else {
    if (kind == M::kInfo.kind) return std::forward<F>(f)(M(p));
    return visit_listed(kind, p, std::forward<F>(f), MetricList<Rest...>{});
  }
}

/// Calls `f(metric)` with the metric of a kind. There is no metric that stands for others: what `Takes` leaves out is
/// refused.
#if defined(__CUDACC__)
#pragma nv_exec_check_disable
#endif
template <typename Takes, typename F>
KITH_HOST_DEVICE decltype(auto) visit_kind(Metric::Kind kind, double p, F&& f) {
  return visit_listed(kind, p, std::forward<F>(f), decltype(metrics_for<Takes>(AllMetrics{}, MetricList<>{})){});
}

/// Throws UsageError for a metric without periodic axes.
void require_wraps(Metric metric);

/// The kind that a search by this metric compares by: that of L2 for cosine.
inline Metric::Kind kind_of_reduction(Metric metric) {
  return visit_kind<EveryMetric>(metric.kind(), metric.p(),
                                 [](auto each) { return decltype(each)::Reduction::kInfo.kind; });
}

/// Calls `f` with the metric itself.
template <typename F>
decltype(auto) visit_metric(Metric metric, F&& f) {
  return visit_kind<EveryMetric>(metric.kind(), metric.p(), std::forward<F>(f));
}

/// Calls `f` with the metric that a search by it compares by.
template <typename Takes = EveryReduction, typename F>
decltype(auto) visit_reduction(Metric metric, F&& f) {
  return visit_kind<Takes>(kind_of_reduction(metric), metric.p(), std::forward<F>(f));
}

}  // namespace kith::core
