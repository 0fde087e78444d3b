// The sums that the filter for GPUs of compute capability 9.0 computes, given out.
#pragma once

#include "cuda/brute_force/filter/hopper_filter.cuh"
#include "cuda/brute_force/filter/product_rows.cuh"

#include "cuda/brute_force/product_pairs.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::test {

class GivenOutHopperWarp : public cuda::HopperWarp {
 public:
  static_assert(kPairQueries == kSide);

  /// Of the first 64 queries; `sums` is the place of the first pair, rows are kPairPoints apart.
  __device__ void give_out(float* sums) const {
    const std::uint32_t point = 2 * (cuda::lane_number() % 4);
#pragma unroll
    for (std::uint32_t n = 0; n < kColumnParts; ++n) {
#pragma unroll
      for (std::uint32_t i = 0; i < 4; ++i) {
        sums[query_of(i / 2) * kPairPoints + 8 * n + point + i % 2] = sums_[0][n][i];
      }
    }
  }
};

inline constexpr std::uint32_t kHopperSumThreads = GivenOutHopperWarp::kWarps * cuda::kWarp;
inline constexpr std::uint32_t kHopperSumSharedBytes =
    (cuda::kProductQueries + GivenOutHopperWarp::kSide) * cuda::kSlabRowBytes + sizeof(std::uint64_t);

/// One block; 64 points after the other. The other queries of the 256 are zeros.
__global__ void __launch_bounds__(kHopperSumThreads)
    give_out_hopper_sums(const __grid_constant__ cuda::HopperTask task, std::uint32_t padded_dims, float* sums) {
  const std::uint32_t of_queries = cuda::shared_address(cuda::shared_memory());
  const std::uint32_t of_points = of_queries + cuda::kProductQueries * cuda::kSlabRowBytes;
  const std::uint32_t barrier = of_points + GivenOutHopperWarp::kSide * cuda::kSlabRowBytes;
  constexpr std::uint32_t kParts = cuda::kSlabDims / cuda::kProductDims;
  if (cuda::thread_number() == 0) {
    cuda::begin_copy_barrier(barrier, 1);
    cuda::show_copy_barriers();
  }
  cuda::sync_block();
  std::uint32_t round = 0;
  for (std::uint32_t first_point = 0; first_point < kPairPoints; first_point += GivenOutHopperWarp::kSide) {
    GivenOutHopperWarp pairs;
    for (std::uint32_t slab = 0; slab < cuda::slabs_of(padded_dims); ++slab) {
      if (cuda::thread_number() == 0) {
        cuda::expect_bytes(barrier, (cuda::kProductQueries + GivenOutHopperWarp::kSide) * cuda::kSlabRowBytes);
        cuda::start_copy_of_matrix(of_queries, task.queries, slab * cuda::kSlabDims, 0, barrier);
        cuda::start_copy_of_matrix(of_points, task.points, slab * cuda::kSlabDims, first_point, barrier);
      }
      cuda::wait_for_round(barrier, round);
      round ^= 1;
      pairs.multiply(of_queries, of_points, padded_dims / cuda::kProductDims - slab * kParts, slab == 0);
      pairs.finish();
      cuda::sync_block();  // before the next slab comes
    }
    pairs.give_out(sums + first_point);
  }
}

/// All steps; `sums` is [kPairQueries][kPairPoints]. Rows of `queries` beyond kPairQueries are zeros.
template <typename Launch>
void launch_hopper_sums(const cuda::PackTask& queries, const cuda::PackTask& points, float* sums, Launch&& launch) {
  cuda::launch_pack_rows(queries, launch);
  cuda::launch_pack_rows(points, launch);
  const std::uint32_t padded_dims = cuda::product_padded_dims(points.dims);
  const cuda::HopperTask task{{},
                              cuda::map_of_halves(points.values, cuda::padded_product_rows(points.count), padded_dims,
                                                  GivenOutHopperWarp::kSide),
                              cuda::map_of_halves(queries.values, cuda::padded_product_rows(queries.count), padded_dims,
                                                  cuda::kProductQueries)};
  launch(give_out_hopper_sums, 1u, kHopperSumThreads, std::size_t{kHopperSumSharedBytes}, task, padded_dims, sums);
}

}  // namespace kith::test
