// The filter by products (product_filter.cuh) for GPUs of compute capability 9.0. They copy slabs by themselves, and
// four warps multiply 256 queries and 64 points together, with both in shared memory: a warp needs no instructions to
// load matrices, few to copy, and can compare while the other four multiply.
//
// Floor: for D dims a pair is D multiplications of some 2048 per cycle and processor, and 2 / 32 instructions of 4 per
// cycle. If queries do not stay, a slab of 256 queries and 128 points is 48 KB from the second cache in 1024 cycles.
#pragma once

#include "cuda/brute_force/filter/product_copies.cuh"
#include "cuda/brute_force/filter/product_filter.cuh"
#include "cuda/brute_force/filter/product_pairs.cuh"
#include "cuda/primitives/hopper.cuh"
#include "cuda/queries/search_launcher.cuh"
#include "cuda/runtime/device_facts.hpp"
#include "cuda/runtime/matrix_map.hpp"
#include "cuda/runtime/shared_limit.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kith::cuda {

struct HopperTask {
  ProductTask products;
  CUtensorMap points;   ///< parts of 64 dims and as many rows as a team takes
  CUtensorMap queries;  ///< parts of 64 dims and 256 rows
};

class HopperWarp : public ProductPairs<true> {
 public:
  /// Starts to add the products of `parts` times 16 dims of a slab; if it is the first, sums are zero before. Those
  /// that were started before are done.
  __device__ __forceinline__ void multiply(std::uint32_t queries, std::uint32_t points, std::uint32_t parts,
                                           bool is_first) {
    switch (parts) {  // between products there must be no branch
      case 1:
        start_parts<1>(queries, points, is_first);
        break;
      case 2:
        start_parts<2>(queries, points, is_first);
        break;
      case 3:
        start_parts<3>(queries, points, is_first);
        break;
      default:
        start_parts<4>(queries, points, is_first);
    }
    wait_for_group_products_but<1>();
  }
  /// Sums may be read.
  __device__ __forceinline__ void finish() {
    wait_for_group_products_but<0>();
#pragma unroll
    for (std::uint32_t m = 0; m < kRowParts; ++m) hold_until_here(sums_[m]);
  }

 private:
  template <std::uint32_t kParts>
  __device__ __forceinline__ void start_parts(std::uint32_t queries, std::uint32_t points, bool is_first) {
    static_assert(kParts <= kSlabDims / kProductDims);
    const std::uint32_t of_queries = matrix_at(queries), of_points = matrix_at(points);
    begin_group_products();
#pragma unroll
    for (std::uint32_t part = 0; part < kParts; ++part) {
      const std::uint32_t at = part * kProductDims * 2;
#pragma unroll
      for (std::uint32_t m = 0; m < kRowParts; ++m) {
        start_group_product(sums_[m], of_queries + (m * kSide * kSlabRowBytes + at) / kMatrixUnit,
                            of_points + at / kMatrixUnit, !is_first || part != 0);
      }
    }
    end_group_products();
  }
};

/// Of a block: two times four warps that multiply and compare, and four of which one thread starts copies. These leave
/// their registers to the others.
inline constexpr std::uint32_t kHopperThreads = kProductThreads + HopperWarp::kWarps * kWarp;
inline constexpr int kRegistersToCopy = 24, kRegistersToMultiply = 240;

/// As ProductShape; slabs begin at multiples of 1024 bytes. A stage has two barriers: that a slab is there, and that it
/// is no longer needed.
template <bool kStay>
struct HopperShape {
  using Teams = ProductShape<kStay>;
  static constexpr std::uint32_t kTeamWarps = Teams::kTeamThreads / kWarp;
  static constexpr std::uint32_t kStageBytes = (Teams::kStageBytes + 1023) / 1024 * 1024;
  static constexpr std::uint32_t kStages = Teams::kTeams * kProductStages;
  static constexpr std::uint32_t kResidentAt = kStages * kStageBytes + kProductQueries * sizeof(QuerySide);
  static_assert(kResidentAt % 1024 == 0);

  std::uint32_t shared, barriers;  ///< where they begin

  __device__ HopperShape(std::uint32_t shared_begin, std::uint32_t padded_dims)
      : shared(shared_begin), barriers(shared_begin + barriers_at(padded_dims)) {}
  __device__ std::uint32_t stage(std::uint32_t i) const { return shared + i * kStageBytes; }
  __device__ std::uint32_t is_there(std::uint32_t i) const { return barriers + 8 * i; }
  __device__ std::uint32_t is_free(std::uint32_t i) const { return barriers + 8 * (kStages + i); }
  __device__ std::uint32_t resident(std::uint32_t slab) const {
    return shared + kResidentAt + slab * kProductQueries * kSlabRowBytes;
  }
  __device__ std::uint32_t resident_is_there() const { return barriers + 8 * (2 * kStages); }

  KITH_HOST_DEVICE static constexpr std::uint32_t offers_at(std::uint32_t padded_dims) {
    return kResidentAt + (kStay ? slabs_of(padded_dims) * kProductQueries * kSlabRowBytes : 0);
  }
  KITH_HOST_DEVICE static constexpr std::uint32_t barriers_at(std::uint32_t padded_dims) {
    return offers_at(padded_dims) + static_cast<std::uint32_t>(sizeof(HopperWarp::Offers::Storage));
  }
  static constexpr std::uint32_t shared_bytes(std::uint32_t padded_dims) {
    return barriers_at(padded_dims) + 8 * (2 * kStages + 1);
  }
};
static_assert(sizeof(HopperWarp::Offers::Storage) % 8 == 0);

/// Copies all slabs that the teams of a block need, by one thread: first those of queries that stay, then of one team
/// after the other.
template <bool kStay>
__device__ void copy_slabs(const HopperTask& task, const ProductPart& part, const HopperShape<kStay>& shape) {
  using Teams = ProductShape<kStay>;
  const ProductRows& points = task.products.points;
  const auto first_query = static_cast<std::uint32_t>(part.first_query);
  const std::uint32_t slabs = slabs_of(points.padded_dims);
  if constexpr (kStay) {
    expect_bytes(shape.resident_is_there(), slabs * kProductQueries * kSlabRowBytes);
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
      start_copy_of_matrix(shape.resident(slab), task.queries, slab * kSlabDims, first_query,
                           shape.resident_is_there());
    }
  }
  std::uint32_t stage = 0, round = 1;  // at first all stages are free: as if a round had ended
  std::uint64_t tile = task.products.scan.order.at(part.first_tile);
  for (std::uint64_t i = part.first_tile; i < part.end_tile; ++i) {
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
      for (std::uint32_t team = 0; team < Teams::kTeams; ++team) {
        const std::uint32_t at = team * kProductStages + stage, barrier = shape.is_there(at), to = shape.stage(at);
        const std::uint64_t first = tile * kTilePoints + team * Teams::kTeamPoints;
        const bool has_terms = slab + 1 == slabs;
        constexpr std::uint32_t kSlabBytes = (Teams::kTeamPoints + (kStay ? 0 : kProductQueries)) * kSlabRowBytes;
        constexpr std::uint32_t kTermBytes = Teams::kTeamPoints * sizeof(float);
        wait_for_round(shape.is_free(at), round);
        expect_bytes(barrier, kSlabBytes + (has_terms ? 2 * kTermBytes : 0));
        start_copy_of_matrix(to, task.points, slab * kSlabDims, static_cast<std::uint32_t>(first), barrier);
        if constexpr (!kStay) {
          start_copy_of_matrix(to + Teams::kQueriesAt, task.queries, slab * kSlabDims, first_query, barrier);
        }
        if (has_terms) {
          start_copy(to + Teams::kTermsAt, points.terms + first, kTermBytes, barrier);
          start_copy(to + Teams::kScalesAt, points.scales + first, kTermBytes, barrier);
        }
      }
      stage = (stage + 1) % kProductStages;
      round ^= stage == 0 ? 1 : 0;
    }
    tile = task.products.scan.order.after(tile);
  }
}

template <bool kStay>
__global__ void __launch_bounds__(kHopperThreads, 1)
    filter_on_hopper(const __grid_constant__ HopperTask task, std::uint32_t query_blocks,
                     std::uint32_t tiles_per_block) {
  using Shape = HopperShape<kStay>;
  using Teams = ProductShape<kStay>;
  const ScanTask<float>& scan = task.products.scan;
  const ProductPart part(scan, kProductQueries, query_blocks, tiles_per_block);
  if (part.is_empty()) return;
  const std::uint32_t padded_dims = task.products.points.padded_dims, slabs = slabs_of(padded_dims);
  const Shape shape(shared_address(shared_memory()), padded_dims);
  if (thread_number() == kProductThreads) {
    for (std::uint32_t i = 0; i < Shape::kStages; ++i) {
      begin_copy_barrier(shape.is_there(i), 1);
      begin_copy_barrier(shape.is_free(i), Shape::kTeamWarps);
    }
    begin_copy_barrier(shape.resident_is_there(), 1);
    show_copy_barriers();
  }
  auto* sides = reinterpret_cast<QuerySide*>(shared_memory() + Shape::kStages * Shape::kStageBytes);
  if (thread_number() < kProductThreads) {
    sides[thread_number()] = query_side(task.products, part.first_query + thread_number(), part.queries);
  }
  sync_block();
  if (thread_number() >= kProductThreads) {
    give_back_registers<kRegistersToCopy>();
    if (thread_number() == kProductThreads) copy_slabs(task, part, shape);
    return;
  }
  take_registers<kRegistersToMultiply>();

  const std::uint32_t team = shuffle(warp_number() / Shape::kTeamWarps, 0);
  const std::uint32_t point_in_team =
      shuffle(warp_number() % Shape::kTeamWarps / HopperWarp::kWarps, 0) * HopperWarp::kSide;
  const std::uint32_t point_in_tile = team * Teams::kTeamPoints + point_in_team;
  HopperWarp pairs;
  HopperWarp::Offers offers(
      scan, part.queries, part.first_query,
      *reinterpret_cast<HopperWarp::Offers::Storage*>(shared_memory() + Shape::offers_at(padded_dims)));
  if (kStay) wait_for_round(shape.resident_is_there(), 0);
  std::uint32_t stage = 0, round = 0;
  bool is_first = true;
  std::uint64_t tile = scan.order.at(part.first_tile);
  for (std::uint64_t i = part.first_tile; i < part.end_tile; ++i) {
    std::uint32_t at = 0;
    for (std::uint32_t slab = 0; slab < slabs; ++slab) {
      const std::uint32_t number = team * kProductStages + stage;
      wait_for_round(shape.is_there(number), round);
      at = shape.stage(number);
      pairs.multiply(kStay ? shape.resident(slab) : at + Teams::kQueriesAt, at + point_in_team * kSlabRowBytes,
                     padded_dims / kProductDims - slab * (kSlabDims / kProductDims), slab == 0);
      // The slab before is no longer needed, nor what it came with.
      if (!is_first && lane_number() == 0) {
        arrive_at(shape.is_free(team * kProductStages + (stage + kProductStages - 1) % kProductStages));
      }
      is_first = false;
      stage = (stage + 1) % kProductStages;
      round ^= stage == 0 ? 1 : 0;
    }
    pairs.finish();
    pairs.compare(sides, at_shared<const float>(at + Teams::kTermsAt) + point_in_team,
                  at_shared<const float>(at + Teams::kScalesAt) + point_in_team, tile * kTilePoints + point_in_tile,
                  offers);
    tile = scan.order.after(tile);
  }
  offers.offer();
}

/// The shared memory that a block needs.
constexpr std::uint32_t hopper_shared_bytes(std::uint32_t padded_dims) {
  return padded_dims <= kResidentDims ? HopperShape<true>::shared_bytes(padded_dims)
                                      : HopperShape<false>::shared_bytes(padded_dims);
}

/// Whether the GPU has what it takes, and there is code for it.
inline bool can_filter_on_hopper(int device, std::uint32_t padded_dims) {
#if defined(KITH_HAS_CODE_FOR_90A)
  return generation_of(device) == 9 && attribute_of(device, cudaDevAttrComputeCapabilityMinor) == 0 &&
         hopper_shared_bytes(padded_dims) <= shared_limit_of(device);
#else
  return static_cast<void>(device), static_cast<void>(padded_dims), false;
#endif
}

/// As launch_product_filter.
template <typename Launch>
void launch_filter_on_hopper(const ProductTask& products, std::uint32_t processors, Launch&& launch) {
  const std::uint64_t tiles = products.scan.end_tile - products.scan.first_tile;
  if (products.scan.queries.count == 0 || tiles == 0) return;
  const std::uint64_t query_rows = padded_product_rows(products.scan.queries.count);
  const std::uint64_t point_rows = padded_product_rows(products.scan.points.count);
  const std::uint64_t query_blocks = query_rows / kProductQueries;
  const std::uint32_t per_block = product_tiles_per_block(tiles, query_blocks, processors);
  const auto blocks = static_cast<std::uint32_t>(query_blocks * ((tiles + per_block - 1) / per_block));
  const std::uint32_t padded_dims = products.points.padded_dims;
  const auto launch_for = [&](auto stay) {
    constexpr bool kStay = decltype(stay)::value;
    const HopperTask task{
        products, map_of_halves(products.points.values, point_rows, padded_dims, ProductShape<kStay>::kTeamPoints),
        map_of_halves(products.queries.values, query_rows, padded_dims, kProductQueries)};
    launch(filter_on_hopper<kStay>, blocks, kHopperThreads, std::size_t{HopperShape<kStay>::shared_bytes(padded_dims)},
           task, static_cast<std::uint32_t>(query_blocks), per_block);
  };
  if (padded_dims <= kResidentDims) {
    launch_for(std::true_type{});
  } else {
    launch_for(std::false_type{});
  }
}

/// Takes the place of the general one where kernels get into a stream.
inline void launch_product_filter(const ProductTask& task, std::uint32_t processors, const SearchLauncher& launch) {
  if (can_filter_on_hopper(launch.device(), task.points.padded_dims)) {
    launch_filter_on_hopper(task, processors, launch);
  } else {
    launch_product_filter<const SearchLauncher&>(task, processors, launch);
  }
}

}  // namespace kith::cuda
