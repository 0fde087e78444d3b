// The distance from a query to a point under a metric that is known at run time only.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/requests.hpp"

#include <cstdint>

namespace kith::cuda {

template <typename M, typename T>
__device__ T reduced_on_axes(const M& metric, const T* lengths, const T* query, const T* point, std::uint32_t dims,
                             std::uint64_t stride) {
  if constexpr (M::kInfo.wraps) {
    if (lengths != nullptr) return core::periodic_reduced_distance(metric, query, point, lengths, dims, 1, stride);
  }
  return core::reduced_distance(metric, query, point, dims, 1, stride);
}

/// One copy in each kernel: inline it would take registers from searches by other metrics.
template <typename M, typename T>
__device__ KITH_NOINLINE T called_reduced_on_axes(const M& metric, const T* lengths, const T* query, const T* point,
                                                  std::uint32_t dims, std::uint64_t stride) {
  return reduced_on_axes(metric, lengths, query, point, dims, stride);
}

/// The coordinates of the query lie side by side, those of the point `stride` apart. `Takes`: the metrics that the
/// engine has.
template <typename Takes, typename T>
__device__ T reduced_to_point(const SearchMetric<T>& metric, const T* query, const T* point, std::uint32_t dims,
                              std::uint64_t stride) {
  return core::visit_kind<Takes>(metric.kind, metric.p, [&](const auto& each) {
    if constexpr (std::remove_cvref_t<decltype(each)>::kIsCostly) {
      return called_reduced_on_axes(each, metric.lengths, query, point, dims, stride);
    } else {
      return reduced_on_axes(each, metric.lengths, query, point, dims, stride);
    }
  });
}

}  // namespace kith::cuda
