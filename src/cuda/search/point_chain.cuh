// The distance from a query to a point under a metric that is known at run time only.
#pragma once

#include "core/chain.hpp"
#include "cuda/intrinsics.cuh"
#include "cuda/search/questions.hpp"

#include <cstdint>

namespace kith::cuda {

/// `pow` is long: one copy of it in each kernel.
template <typename T>
__device__ KITH_NOINLINE T lp_to_point(double p, const T* query, const T* point, std::uint32_t dims,
                                       std::uint64_t stride) {
  return core::chain_distance(core::LpChain{p}, query, point, dims, 1, stride);
}

template <typename Chain, typename T>
__device__ T chain_on_axes(const Chain& chain, const T* lengths, const T* query, const T* point, std::uint32_t dims,
                           std::uint64_t stride) {
  if (lengths == nullptr) return core::chain_distance(chain, query, point, dims, 1, stride);
  return core::periodic_chain_distance(chain, query, point, lengths, dims, 1, stride);
}

/// The coordinates of the query lie side by side, those of the point `stride` apart.
template <typename T>
__device__ T chain_to_point(const SearchMetric<T>& metric, const T* query, const T* point, std::uint32_t dims,
                            std::uint64_t stride) {
  switch (metric.kind) {
    case Metric::Kind::l1:
      return chain_on_axes(core::L1Chain{}, metric.lengths, query, point, dims, stride);
    case Metric::Kind::linf:
      return chain_on_axes(core::LinfChain{}, metric.lengths, query, point, dims, stride);
    case Metric::Kind::lp:
      return lp_to_point(metric.p, query, point, dims, stride);
    default:
      return chain_on_axes(core::L2Chain{}, metric.lengths, query, point, dims, stride);
  }
}

}  // namespace kith::cuda
