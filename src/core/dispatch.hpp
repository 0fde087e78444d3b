// The one place where run-time number types, dimensions and metrics become template arguments.
#pragma once

#include "core/chain.hpp"

#include <kith/dtype.hpp>
#include <kith/metric.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kith::core {

/// The dims of a template that reads them at run time.
inline constexpr std::uint32_t kRuntimeDims = 0;

/// Calls `f(T{})` with float or double.
template <typename F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  return dtype == DType::f32 ? std::forward<F>(f)(float{}) : std::forward<F>(f)(double{});
}

/// Calls `f(std::integral_constant<std::uint32_t, D>{})` with D = dims for 2 to 8, else with kRuntimeDims.
template <typename F>
decltype(auto) visit_dims(std::uint32_t dims, F&& f) {
  switch (dims) {
    case 2:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 2>{});
    case 3:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 3>{});
    case 4:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 4>{});
    case 5:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 5>{});
    case 6:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 6>{});
    case 7:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 7>{});
    case 8:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, 8>{});
    default:
      return std::forward<F>(f)(std::integral_constant<std::uint32_t, kRuntimeDims>{});
  }
}

/// Calls `f(chain)` with the chain of a metric that has distances: not for the inner product. Cosine and angular
/// are searched by L2 on normalised vectors.
template <typename F>
decltype(auto) visit_chain(Metric metric, F&& f) {
  switch (metric.kind()) {
    case Metric::Kind::l1:
      return std::forward<F>(f)(L1Chain{});
    case Metric::Kind::linf:
      return std::forward<F>(f)(LinfChain{});
    case Metric::Kind::lp:
      return std::forward<F>(f)(LpChain{metric.p()});
    case Metric::Kind::l2:
    case Metric::Kind::cosine:
    case Metric::Kind::angular:
    case Metric::Kind::inner_product:
      break;
  }
  return std::forward<F>(f)(L2Chain{});
}

/// The same for all metrics.
template <typename F>
decltype(auto) visit_any_chain(Metric metric, F&& f) {
  if (metric.kind() == Metric::Kind::inner_product) return std::forward<F>(f)(InnerProductChain{});
  return visit_chain(metric, std::forward<F>(f));
}

}  // namespace kith::core
