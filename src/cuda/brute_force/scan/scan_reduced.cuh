// Reduced distances of scans: their ends, and which metrics have kernels of their own.
#pragma once

#include "core/metric/reduced_distance.hpp"
#include "cuda/primitives/intrinsics.cuh"

namespace kith::cuda {

/// The metrics whose scans keep tiles of pairs in registers. All others, and periodic axes, go pair by pair.
struct TiledMetrics {
  template <typename M>
  static constexpr bool kTakes = std::is_same_v<M, core::L2> || std::is_same_v<M, core::L1> ||
                                 std::is_same_v<M, core::Linf> || std::is_same_v<M, core::InnerProduct>;
};
inline bool has_tiles(Metric::Kind kind) {
  return core::visit_kind<core::EveryReduction>(kind, 3,
                                                [](auto each) { return TiledMetrics::kTakes<decltype(each)>; });
}

/// The ends of the reduced distances of a thread.
template <typename M, typename T, std::uint32_t kRows, std::uint32_t kWidth>
__device__ __forceinline__ void finish_sums(T (&reduced)[kRows][kWidth]) {
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
    for (std::uint32_t j = 0; j < kWidth; ++j) reduced[i][j] = core::finish_sum(M{}, reduced[i][j]);
  }
}

}  // namespace kith::cuda
