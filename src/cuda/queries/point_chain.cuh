// The distance from a query to a point under a metric that is known at run time only.
#pragma once

#include "core/metric/chain.hpp"
#include "cuda/primitives/intrinsics.cuh"
#include "cuda/queries/requests.hpp"

#include <cstdint>

namespace kith::cuda {

/// The coordinates of the query lie side by side, those of the point `stride` apart. `Takes`: the metrics that the
/// engine has.
template <typename Takes, typename T>
__device__ T chain_to_point(const SearchMetric<T>& metric, const T* query, const T* point, std::uint32_t dims,
                            std::uint64_t stride) {
  return core::visit_kind<Takes>(metric.kind, metric.p, [&](const auto& each) {
    if constexpr (std::remove_cvref_t<decltype(each)>::kInfo.wraps) {
      if (metric.lengths != nullptr) {
        return core::periodic_chain_distance(each, query, point, metric.lengths, dims, 1, stride);
      }
    }
    return core::chain_distance(each, query, point, dims, 1, stride);
  });
}

}  // namespace kith::cuda
