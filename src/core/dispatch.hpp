// Where run-time number types and dimensions become template arguments; metrics do in core/metric/metrics.hpp.
#pragma once

#include <kith/dtype.hpp>

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

}  // namespace kith::core
