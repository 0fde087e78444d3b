// The steps of chains in as few instructions as the hardware has for them, and chains by any metric.
#pragma once

#include "core/chain.hpp"
#include "cuda/intrinsics.cuh"
#include "cuda/search/questions.hpp"

namespace kith::cuda {

using ScanL2 = core::L2Chain;
using ScanInnerProduct = core::InnerProductChain;

// Sums are never -0 or NaN, so |-0| may become 0 or not, and these give what the chains of core give.
struct ScanL1 {
  template <typename T>
  __device__ T step(T sum, T difference) const {
    return sum + magnitude(difference);
  }
};

struct ScanLinf {
  template <typename T>
  __device__ T step(T sum, T difference) const {
    return greater(sum, magnitude(difference));
  }
};

/// The ends of the chains of a thread.
template <typename Chain, typename T, std::uint32_t kRows, std::uint32_t kWidth>
__device__ __forceinline__ void end_chains(T (&chains)[kRows][kWidth]) {
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) chains[i][j] = core::end_of_chain(Chain{}, chains[i][j]);
  }
}

/// On axes that may wrap.
template <typename Chain, typename T>
__device__ T chain_on_axes(const Chain& chain, const T* lengths, const T* query, const T* point, std::uint32_t dims) {
  if (lengths == nullptr) return core::chain_distance(chain, query, point, dims);
  return core::periodic_chain_distance(chain, query, point, lengths, dims);
}

/// `pow` is long: one copy of it.
template <typename T>
__device__ KITH_NOINLINE T lp_chain_on_axes(double p, const T* lengths, const T* query, const T* point,
                                            std::uint32_t dims) {
  return chain_on_axes(core::LpChain{p}, lengths, query, point, dims);
}

template <typename T>
__device__ T any_chain(const SearchMetric<T>& metric, const T* query, const T* point, std::uint32_t dims) {
  switch (metric.kind) {
    case Metric::Kind::l1:
      return chain_on_axes(core::L1Chain{}, metric.lengths, query, point, dims);
    case Metric::Kind::linf:
      return chain_on_axes(core::LinfChain{}, metric.lengths, query, point, dims);
    case Metric::Kind::lp:
      return lp_chain_on_axes(metric.p, metric.lengths, query, point, dims);
    case Metric::Kind::inner_product:
      return core::chain_distance(core::InnerProductChain{}, query, point, dims);
    default:
      return chain_on_axes(core::L2Chain{}, metric.lengths, query, point, dims);
  }
}

}  // namespace kith::cuda
