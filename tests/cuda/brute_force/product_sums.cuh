// The sums that the filter by products computes, given out: its rows, its copies and its products of matrices.
#pragma once

#include "cuda/brute_force/filter/product_filter.cuh"
#include "cuda/brute_force/filter/product_rows.cuh"

#include "cuda/brute_force/product_pairs.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::test {

class GivenOutWarp : public cuda::ProductWarp {
 public:
  /// `sums` is the place of the warp's first pair, rows are kPairPoints apart.
  __device__ void give_out(float* sums) const {
    const std::uint32_t query = cuda::lane_number() / 4, point = 2 * (cuda::lane_number() % 4);
#pragma unroll
    for (std::uint32_t m = 0; m < kRowParts; ++m) {
#pragma unroll
      for (std::uint32_t n = 0; n < kColumnParts; ++n) {
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) {
          sums[(16 * m + 8 * (i / 2) + query) * kPairPoints + 8 * n + point + i % 2] = sums_[m][n][i];
        }
      }
    }
  }
};

inline constexpr std::uint32_t kSumThreads = 64;
inline constexpr std::uint32_t kSumSharedBytes = (kPairQueries + kPairPoints) * cuda::kSlabRowBytes;
static_assert(kPairQueries == GivenOutWarp::kSide && kPairPoints == kSumThreads / cuda::kWarp * GivenOutWarp::kSide);

/// One block: each warp has all queries and its share of the points.
__global__ void __launch_bounds__(kSumThreads)
    give_out_sums(cuda::ProductRows queries, cuda::ProductRows points, float* sums) {
  const std::uint32_t of_queries = cuda::shared_address(cuda::shared_memory());
  const std::uint32_t of_points = of_queries + kPairQueries * cuda::kSlabRowBytes;
  const std::uint32_t first_point = cuda::warp_number() * GivenOutWarp::kSide;
  constexpr std::uint32_t kParts = cuda::kSlabDims / cuda::kProductDims;
  GivenOutWarp pairs;
  pairs.clear();
  for (std::uint32_t slab = 0; slab < cuda::slabs_of(points.padded_dims); ++slab) {
    cuda::copy_slab<kPairQueries, kSumThreads>(queries, 0, slab, of_queries, cuda::thread_number());
    cuda::copy_slab<kPairPoints, kSumThreads>(points, 0, slab, of_points, cuda::thread_number());
    cuda::commit_copies();
    cuda::wait_for_copies_but<0>();
    cuda::sync_block();
    const std::uint32_t left = points.padded_dims / cuda::kProductDims - slab * kParts;
    pairs.multiply(of_queries, of_points + first_point * cuda::kSlabRowBytes, left < kParts ? left : kParts);
    cuda::sync_block();
  }
  pairs.give_out(sums + first_point);
}

/// All steps; `sums` is [kPairQueries][kPairPoints].
template <typename Launch>
void launch_product_sums(const cuda::PackTask& queries, const cuda::PackTask& points, float* sums, Launch&& launch) {
  cuda::launch_pack_rows(queries, launch);
  cuda::launch_pack_rows(points, launch);
  launch(give_out_sums, 1u, kSumThreads, std::size_t{kSumSharedBytes}, queries.packed(), points.packed(), sums);
}

}  // namespace kith::test
