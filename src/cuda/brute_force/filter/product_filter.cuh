// All pairs of queries and points through the tensor cores, 256 queries and 128 points at a time; those that may lie
// below the limit of their query are offered (product_bound.hpp says why no other can).
//
// A warp multiplies 64 queries and 64 points: for 16 dims 8 loads of matrices (4 KB, no bank conflicts) and 32 products
// of 16 x 8. Then a pair takes 2 instructions if all points of the warp have one scale, else 3. Per tile and block come
// 256 bytes per 128 dims of each point from the second cache, and as much of each query if the dims are many.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/brute_force/filter/product_bound.hpp"
#include "cuda/brute_force/filter/product_copies.cuh"
#include "cuda/brute_force/filter/product_offers.cuh"
#include "cuda/brute_force/filter/product_pairs.cuh"
#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace kith::cuda {

/// Multiplies on its own.
class ProductWarp : public ProductPairs<false> {
 public:
  __device__ void clear() {
#pragma unroll
    for (std::uint32_t m = 0; m < kRowParts; ++m) {
#pragma unroll
      for (std::uint32_t n = 0; n < kColumnParts; ++n) {
#pragma unroll
        for (std::uint32_t i = 0; i < 4; ++i) sums_[m][n][i] = 0;
      }
    }
  }

  /// Adds the products of `parts` times 16 dims of a slab, of which the warp's rows begin at `queries` and `points`.
  __device__ void multiply(std::uint32_t queries, std::uint32_t points, std::uint32_t parts) {
    if (parts == kSlabDims / kProductDims) {
#pragma unroll
      for (std::uint32_t part = 0; part < kSlabDims / kProductDims; ++part) multiply_part(queries, points, part);
    } else {
#pragma unroll 1
      for (std::uint32_t part = 0; part < parts; ++part) multiply_part(queries, points, part);
    }
  }

 protected:  // a test looks at the sums
  __device__ void multiply_part(std::uint32_t queries, std::uint32_t points, std::uint32_t part) {
    const std::uint32_t lane = lane_number();
    // Matrices of queries: rows 0 to 7 and 8 to 15, then the same of the next 8 dims. Of points: 8 and 8 dims of rows 0
    // to 7, then of rows 8 to 15.
    const std::uint32_t query = queries + lane % 16 * kSlabRowBytes + (((lane / 16) ^ (lane % 8) ^ (2 * part)) << 4);
    const std::uint32_t point =
        points + (lane % 8 + lane / 16 * 8) * kSlabRowBytes + (((lane / 8 % 2) ^ (lane % 8) ^ (2 * part)) << 4);
    std::uint32_t a[kRowParts][4], b[kColumnParts][2];
#pragma unroll
    for (std::uint32_t m = 0; m < kRowParts; ++m) load_matrix_x4(a[m], query + m * 16 * kSlabRowBytes);
#pragma unroll
    for (std::uint32_t n = 0; n < kColumnParts; n += 2) {
      std::uint32_t four[4];
      load_matrix_x4(four, point + n * 8 * kSlabRowBytes);
      b[n][0] = four[0];
      b[n][1] = four[1];
      b[n + 1][0] = four[2];
      b[n + 1][1] = four[3];
    }
#pragma unroll
    for (std::uint32_t n = 0; n < kColumnParts; ++n) {
#pragma unroll
      for (std::uint32_t m = 0; m < kRowParts; ++m) mma_f16(sums_[m][n], a[m], b[n]);
    }
  }
};

/// What a block of a filter does: blocks side by side have the same tiles of points and other queries, `per_block`
/// each.
struct ProductPart {
  std::uint64_t queries;  ///< that there are, for all blocks
  std::uint64_t first_query, first_tile, end_tile;

  __device__ ProductPart(const ScanTask<float>& scan, std::uint32_t per_block, std::uint32_t query_blocks,
                         std::uint32_t tiles_per_block)
      : queries(scan.queries.chosen_count == nullptr ? scan.queries.count : std::uint64_t{*scan.queries.chosen_count}),
        first_query(std::uint64_t{block_number() % query_blocks} * per_block),
        first_tile(scan.first_tile + std::uint64_t{block_number() / query_blocks} * tiles_per_block),
        end_tile(first_tile + tiles_per_block < scan.end_tile ? first_tile + tiles_per_block : scan.end_tile) {}

  __device__ bool is_empty() const { return first_query >= queries || first_tile >= end_tile; }
};

template <bool kStay>
__global__ void __launch_bounds__(kProductThreads, 1)
    filter_by_products(const __grid_constant__ ProductTask task, std::uint32_t query_blocks,
                       std::uint32_t tiles_per_block) {
  using Shape = ProductShape<kStay>;
  const ScanTask<float>& scan = task.scan;
  const ProductPart part(scan, kProductQueries, query_blocks, tiles_per_block);
  if (part.is_empty()) return;
  const auto [queries, first_query, first_tile, end_tile] = part;

  const std::uint32_t shared = shared_address(shared_memory());
  const std::uint32_t team = thread_number() / Shape::kTeamThreads;
  const std::uint32_t stages = shared + team * kProductStages * Shape::kStageBytes;
  const std::uint32_t slabs = slabs_of(task.points.padded_dims);
  if constexpr (kStay) {
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
      copy_slab<kProductQueries, kProductThreads>(task.queries, first_query, slab,
                                                  shared + Shape::kResidentAt + slab * kProductQueries * kSlabRowBytes,
                                                  thread_number());
    }
  }
  commit_copies();
  SlabCopies<kStay> copies(task, first_tile, end_tile, first_query, stages);
#pragma unroll
  for (std::uint32_t stage = 0; stage < kProductStages - 1; ++stage) copies.start(task, stage);

  auto* sides = reinterpret_cast<QuerySide*>(shared_memory() + Shape::kStagesBytes);
  sides[thread_number()] = query_side(task, first_query + thread_number(), queries);
  wait_for_copies_but<kProductStages - 1>();
  sync_block();  // queries that stay and what they are compared with are there

  const std::uint32_t warp = warp_number() % (Shape::kTeamThreads / kWarp);
  const std::uint32_t query_in_block = warp % ProductWarp::kWarps * ProductWarp::kSide;
  const std::uint32_t point_in_team = warp / ProductWarp::kWarps * ProductWarp::kSide;
  const std::uint32_t point_in_tile = team * Shape::kTeamPoints + point_in_team;
  // The second team begins when the first has multiplied once: from then on one multiplies while the other compares.
  constexpr std::uint32_t kStart = 3;
  if (team == 1) sync_part(kStart, kProductThreads);
  ProductWarp pairs;
  ProductWarp::Offers offers(scan, queries, first_query,
                             *reinterpret_cast<ProductWarp::Offers::Storage*>(
                                 shared_memory() + Shape::shared_bytes(kStay ? task.points.padded_dims : 0)));
  std::uint32_t stage = 0;
  std::uint64_t tile = scan.order.at(first_tile);
  for (std::uint64_t i = first_tile; i < end_tile; ++i) {
    pairs.clear();
    std::uint32_t at = 0;
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
      wait_for_copies_but<kProductStages - 2>();
      sync_part(1 + team, Shape::kTeamThreads);  // the slab is complete, and the one before is no longer needed
      copies.start(task, (stage + kProductStages - 1) % kProductStages);
      at = stages + stage * Shape::kStageBytes;
      const std::uint32_t parts_left = task.points.padded_dims / kProductDims - slab * (kSlabDims / kProductDims);
      const std::uint32_t of_queries =
          kStay ? shared + Shape::kResidentAt + slab * kProductQueries * kSlabRowBytes : at + Shape::kQueriesAt;
      pairs.multiply(of_queries + query_in_block * kSlabRowBytes, at + point_in_team * kSlabRowBytes,
                     parts_left < kSlabDims / kProductDims ? parts_left : kSlabDims / kProductDims);
      stage = (stage + 1) % kProductStages;
    }
    if (Shape::kTeams > 1 && team == 0 && i == first_tile) sync_part(kStart, kProductThreads);
    pairs.compare(sides, at_shared<const float>(at + Shape::kTermsAt) + point_in_team,
                  at_shared<const float>(at + Shape::kScalesAt) + point_in_team, tile * kTilePoints + point_in_tile,
                  offers);
    tile = scan.order.after(tile);
  }
  offers.offer();
}

/// The tiles of a block: so that all processors are busy to the end, and few queries are loaded twice.
inline std::uint32_t product_tiles_per_block(std::uint64_t tiles, std::uint64_t query_blocks,
                                             std::uint32_t processors) {
  constexpr std::uint64_t kTilesToStart = 2;  // what the start of a block costs
  constexpr std::uint64_t kMostParts = 256;
  std::uint64_t best = tiles, least = std::numeric_limits<std::uint64_t>::max();
  for (std::uint64_t parts = 1; parts <= std::min(tiles, kMostParts); ++parts) {
    const std::uint64_t per_block = (tiles + parts - 1) / parts;
    const std::uint64_t blocks = query_blocks * ((tiles + per_block - 1) / per_block);
    const std::uint64_t time = (blocks + processors - 1) / processors * (per_block + kTilesToStart);
    if (time < least) {
      least = time;
      best = per_block;
    }
  }
  return static_cast<std::uint32_t>(best);
}

/// The shared memory that a block needs.
constexpr std::uint32_t product_shared_bytes(std::uint32_t dims) {
  const std::uint32_t padded_dims = product_padded_dims(dims);
  const std::uint32_t bytes = padded_dims <= kResidentDims ? ProductShape<true>::shared_bytes(padded_dims)
                                                           : ProductShape<false>::shared_bytes(padded_dims);
  return bytes + static_cast<std::uint32_t>(sizeof(ProductWarp::Offers::Storage));
}

/// Offers the pairs of the tiles [first_tile, end_tile) that may lie below the limits; entries have no reduced distance
/// yet. `scan.mode` is not looked at.
template <typename Launch>
void launch_product_filter(const ProductTask& task, std::uint32_t processors, Launch&& launch) {
  const std::uint64_t tiles = task.scan.end_tile - task.scan.first_tile;
  if (task.scan.queries.count == 0 || tiles == 0) return;
  const std::uint64_t query_blocks = padded_product_rows(task.scan.queries.count) / kProductQueries;
  const std::uint32_t per_block = product_tiles_per_block(tiles, query_blocks, processors);
  const auto blocks = static_cast<std::uint32_t>(query_blocks * ((tiles + per_block - 1) / per_block));
  const std::size_t shared_bytes = product_shared_bytes(task.points.padded_dims);
  if (task.points.padded_dims <= kResidentDims) {
    launch(filter_by_products<true>, blocks, kProductThreads, shared_bytes, task,
           static_cast<std::uint32_t>(query_blocks), per_block);
  } else {
    launch(filter_by_products<false>, blocks, kProductThreads, shared_bytes, task,
           static_cast<std::uint32_t>(query_blocks), per_block);
  }
}

}  // namespace kith::cuda
