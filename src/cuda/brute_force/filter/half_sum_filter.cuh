// All pairs of queries and points of few dims through the tensor cores, with sums in halves: those that may lie below
// the limit of their query are offered (half_sum_bound.hpp says why no other can).
//
// A warp keeps 64 queries in registers and takes 32 points at a time: for 16 dims 2 loads of matrices, 16 products of
// 16 x 8, and 16 maxima of three times two sums, which leave the threshold of a query as it is if all sums are below.
// The 4 warps of a block have different queries and the same points.
#pragma once

#include "core/arithmetic.hpp"
#include "cuda/brute_force/filter/half_sum_bound.hpp"
#include "cuda/brute_force/filter/half_sum_types.hpp"
#include "cuda/brute_force/filter/product_filter.cuh"
#include "cuda/brute_force/filter/product_offers.cuh"
#include "cuda/primitives/intrinsics.cuh"

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kith::cuda {

inline constexpr std::uint32_t kHalfSumThreads = 128;
template <std::uint32_t kParts>
inline constexpr std::uint32_t kHalfSumBlocks = kParts == 1 ? 5 : 4;  // of a processor
inline constexpr std::uint32_t kHalfSumStages = 3;
template <std::uint32_t kParts>  // of a stage: with more of them, warps that find much wait less often for others
inline constexpr std::uint32_t kHalfSumTiles = kParts == 1 ? 2 : 1;
inline constexpr std::uint32_t kHalfSumWarpQueries = 64;
inline constexpr std::uint32_t kHalfSumQueries = kHalfSumThreads / kWarp * kHalfSumWarpQueries;
inline constexpr std::uint32_t kHalfSumGroup = 32;  // points that a warp takes at a time

struct alignas(16) FourWords {
  std::uint32_t values[4];
};

/// A tile of points in shared memory, rows of kParts times 16 halves, and their terms. Piece c of 16 bytes of row r is
/// at place c ^ swizzle(r) of its row, so that the 8 rows that a matrix is loaded from are in different banks.
template <std::uint32_t kParts>
struct HalfSumTile {
  static constexpr std::uint32_t kRowBytes = kParts * 32, kPieces = kRowBytes / kPieceBytes;
  static constexpr std::uint32_t kTermsAt = kTilePoints * kRowBytes, kTermBytes = kTilePoints * 4;
  static constexpr std::uint32_t kBytes = kTermsAt + kTermBytes;

  static __device__ __forceinline__ std::uint32_t swizzle(std::uint32_t row) { return row / (4 / kParts) % kPieces; }

  /// A block starts to copy the tile.
  static __device__ void start(const HalfSumRows& points, std::uint64_t tile, std::uint32_t to) {
    const auto* from = reinterpret_cast<const std::byte*>(points.values) + tile * kTermsAt;
#pragma unroll
    for (std::uint32_t i = 0; i < kTermsAt / kPieceBytes / kHalfSumThreads; ++i) {
      const std::uint32_t piece = i * kHalfSumThreads + thread_number(), row = piece / kPieces;
      copy_16_to_shared(to + row * kRowBytes + ((piece % kPieces ^ swizzle(row)) * kPieceBytes),
                        from + std::size_t{piece} * kPieceBytes);
    }
    if (thread_number() < kTermBytes / kPieceBytes) {
      const auto* terms = reinterpret_cast<const std::byte*>(points.terms) + tile * kTermBytes;
      copy_16_to_shared(to + kTermsAt + thread_number() * kPieceBytes, terms + thread_number() * kPieceBytes);
    }
  }

  /// Where this lane reads of a tile: 8 and 8 dims of rows 0 to 7, then of rows 8 to 15; and the terms of its columns.
  static __device__ std::uint32_t place_of_points() {
    const std::uint32_t row = lane_number() % 8 + lane_number() / 16 * 8, piece = lane_number() / 8 % 2;
    return row * kRowBytes + ((piece ^ swizzle(row)) << 4);
  }
  static __device__ std::uint32_t place_of_terms() { return kTermsAt + lane_number() % 4 * 32; }
};

template <std::uint32_t kParts>
inline constexpr std::size_t kHalfSumStagesBytes = kHalfSumStages* kHalfSumTiles<kParts>* HalfSumTile<kParts>::kBytes;

/// 64 queries, and their sums with 32 points. Row r of a lane is query 8 r + lane / 4.
template <std::uint32_t kParts>
class HalfSumWarp {
 public:
  using Offers = ProductOffers<kHalfSumThreads>;

  /// Takes the queries from `first` on, of `queries`. Those that cannot be filtered are noted, if `notes`.
  __device__ void take_queries(const HalfSumTask& task, std::uint64_t first, std::uint64_t queries, bool notes) {
    const CandidateLists<float>& lists = task.scan.lists;
    const float scale = *task.points.scale;
    const HalfSumBound bound(task.scan.points.dims, kParts * kHalfSumRoundings);
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; ++r) {
      const std::uint64_t query = first + 8 * r + lane_number() / 4;
      const bool is_query = query < queries && Entry<float>::first() < lists.limits[query];
      float coordinates[4 * kParts], largest = 0, squared_length = 0;
      load_centred(task, query, is_query, coordinates);
#pragma unroll
      for (std::uint32_t i = 0; i < 4 * kParts; ++i) {
        largest = core::larger(largest, core::absolute(coordinates[i]));
        squared_length = core::fused_multiply_add(coordinates[i], coordinates[i], squared_length);
      }
#pragma unroll
      for (std::uint32_t step = 1; step < 4; step *= 2) {
        largest = core::larger(largest, shuffle_xor(largest, step));
        squared_length += shuffle_xor(squared_length, step);
      }
      const bool asks = is_query && is_half_sum_scale(scale) && largest < scale;
      if (is_query && !asks && notes && lane_number() % 4 == 0) {
        atomic_add(&lists.counts[query], lists.capacity + 1);
        task.kept[query] = lists.capacity;
      }
      std::uint16_t below = kBelowInfinity;
      if (asks) {
        const float threshold = bound.threshold_of(squared_length, lists.limits[query].reduced(), scale);
        below = threshold >= -65504.0f ? half_below(to_half_bits_down(threshold)) : kBelowNothing;
      }
      below_[r] = below * 0x10001u;
      const float inverse = asks ? 1 / scale : 0;
#pragma unroll
      for (std::uint32_t i = 0; i < 2 * kParts; ++i) {
        const std::uint32_t low = to_half_bits(asks ? coordinates[2 * i] * inverse : 0);
        const std::uint32_t high = to_half_bits(asks ? coordinates[2 * i + 1] * inverse : 0);
        queries_[i / 2][r / 2][i % 2 * 2 + r % 2] = low | high << 16;
      }
    }
  }

  /// Sums with 32 points: where this lane reads of these and of their terms.
  __device__ __forceinline__ void multiply(std::uint32_t points, std::uint32_t terms) {
    const FourWords of_points[2] = {*at_shared<const FourWords>(terms), *at_shared<const FourWords>(terms + 16)};
#pragma unroll
    for (std::uint32_t part = 0; part < kParts; ++part) {
#pragma unroll
      for (std::uint32_t n = 0; n < kColumnParts; n += 2) {
        std::uint32_t four[4];
        load_matrix_x4(four, (points ^ 32 * part) + n * 8 * HalfSumTile<kParts>::kRowBytes);
#pragma unroll
        for (std::uint32_t k = 0; k < 2; ++k) {
          const std::uint32_t b[2] = {four[2 * k], four[2 * k + 1]};
          const std::uint32_t(&words)[4] = of_points[n / 2].values;
#pragma unroll
          for (std::uint32_t m = 0; m < kRows / 2; ++m) {
            std::uint32_t(&sums)[2] = sums_[m][n + k];
            mma_half_sums(sums, queries_[part][m], b, part == 0 ? words[2 * k] : sums[0],
                          part == 0 ? words[2 * k + 1] : sums[1]);
          }
        }
      }
    }
  }

  /// Whether some sum is to be looked at.
  __device__ __forceinline__ bool has_found() const {
    std::uint32_t differences = 0;
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; ++r) differences |= difference_of(r);
    return any_lane(differences != 0);
  }

  /// Notes pairs that are not dismissed. The first point is `first_point`.
  __device__ __forceinline__ void note(std::uint64_t first_point, Offers& offers) const {
    std::uint32_t passed[2] = {};
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; ++r) {
      if (!any_lane(difference_of(r) != 0)) continue;
#pragma unroll
      for (std::uint32_t n = 0; n < kColumnParts; ++n) {
        const std::uint32_t difference = max_halves(below_[r], sums_[r / 2][n][r % 2]) ^ below_[r];
        const std::uint32_t bit = 1u << (8 * (r % 4) + 2 * n);
        if ((difference & 0xffff) != 0) passed[r / 4] |= bit;
        if (difference >> 16 != 0) passed[r / 4] |= 2 * bit;
      }
    }
    for (;;) {
#pragma unroll
      for (std::uint32_t i = 0; i < 2; ++i) {
        for (; passed[i] != 0 && !offers.is_full(); passed[i] &= passed[i] - 1) {
          const std::uint32_t bit = lowest_bit(passed[i]);
          offers.note(32 * i + bit / 8 * 8 + lane_number() / 4,
                      first_point + bit % 8 / 2 * 8 + 2 * (lane_number() % 4) + bit % 2);
        }
      }
      if (!any_lane(offers.is_full())) break;
      offers.offer();
    }
  }

 private:
  static constexpr std::uint32_t kRows = kHalfSumWarpQueries / 8, kColumnParts = kHalfSumGroup / 8;

  /// Nonzero if a sum of row r is above its threshold.
  __device__ __forceinline__ std::uint32_t difference_of(std::uint32_t r) const {
    std::uint32_t most = below_[r];
#pragma unroll
    for (std::uint32_t n = 0; n < kColumnParts; ++n) most = max_halves(most, sums_[r / 2][n][r % 2]);
    return most ^ below_[r];
  }

  /// The lane's coordinates of a query, less those of the centre: of each 8 dims a lane has two.
  static __device__ __forceinline__ void load_centred(const HalfSumTask& task, std::uint64_t query, bool is_query,
                                                      float (&coordinates)[4 * kParts]) {
    const ScanQueries<float>& queries = task.scan.queries;
    const float* row = queries.rows + (is_query ? queries.row_of(query) * queries.row_stride : 0);
#pragma unroll
    for (std::uint32_t i = 0; i < 4 * kParts; ++i) {
      const std::uint32_t d = i / 2 * 8 + 2 * (lane_number() % 4) + i % 2;
      coordinates[i] = is_query && d < task.scan.points.dims ? row[d] - task.centre[d] : 0;
    }
  }

  std::uint32_t queries_[kParts][kRows / 2][4];
  std::uint32_t below_[kRows];  ///< a half twice: the greatest sum that is dismissed
  std::uint32_t sums_[kRows / 2][kColumnParts][2];
};

template <std::uint32_t kParts>
__global__ void __launch_bounds__(kHalfSumThreads, kHalfSumBlocks<kParts>)
    filter_by_half_sums(const __grid_constant__ HalfSumTask task, std::uint32_t query_blocks,
                        std::uint32_t tiles_per_block) {
  using Tile = HalfSumTile<kParts>;
  using Offers = typename HalfSumWarp<kParts>::Offers;
  const ScanTask<float>& scan = task.scan;
  const ProductPart part(scan, kHalfSumQueries, query_blocks, tiles_per_block);
  if (part.is_empty()) return;
  const std::uint64_t queries = part.queries, first_query = part.first_query;
  const std::uint64_t first_tile = part.first_tile, end_tile = part.end_tile;

  constexpr std::uint32_t kTiles = kHalfSumTiles<kParts>;
  const std::uint32_t stages = shared_address(shared_memory());
  const auto stage_at = [&](std::uint32_t stage) { return stages + stage * kTiles * Tile::kBytes; };
  std::uint64_t next = scan.order.at(first_tile), left = end_tile - first_tile;
  const auto start = [&](std::uint32_t stage) {
#pragma unroll
    for (std::uint32_t t = 0; t < kTiles; ++t) {
      if (left == 0) break;
      Tile::start(task.points, next, stage_at(stage) + t * Tile::kBytes);
      next = scan.order.after(next);
      --left;
    }
    commit_copies();
  };
#pragma unroll
  for (std::uint32_t stage = 0; stage < kHalfSumStages - 1; ++stage) start(stage);

  const std::uint64_t first_of_warp = first_query + warp_number() * kHalfSumWarpQueries;
  HalfSumWarp<kParts> pairs;
  pairs.take_queries(task, first_of_warp, queries, block_number() < query_blocks);
  Offers offers(scan, queries, first_of_warp,
                *reinterpret_cast<typename Offers::Storage*>(shared_memory() + kHalfSumStagesBytes<kParts>));
  std::uint32_t stage = 0;
  std::uint64_t tile = scan.order.at(first_tile);
  for (std::uint64_t i = first_tile; i < end_tile; i += kTiles) {
    wait_for_copies_but<kHalfSumStages - 2>();
    sync_block();  // the tiles are there, and those before are no longer needed
    start((stage + kHalfSumStages - 1) % kHalfSumStages);
    const std::uint32_t tiles = end_tile - i < kTiles ? static_cast<std::uint32_t>(end_tile - i) : kTiles;
    for (std::uint32_t t = 0; t < tiles && first_of_warp < queries; ++t) {
      const std::uint32_t at = stage_at(stage) + t * Tile::kBytes;
      const std::uint32_t points = at + Tile::place_of_points(), terms = at + Tile::place_of_terms();
#pragma unroll 2
      for (std::uint32_t group = 0; group < kTilePoints; group += kHalfSumGroup) {
        pairs.multiply(points + group * Tile::kRowBytes, terms + group * 4);
        if (pairs.has_found()) pairs.note(tile * kTilePoints + group, offers);
      }
      tile = scan.order.after(tile);
    }
    stage = (stage + 1) % kHalfSumStages;
  }
  offers.offer();
}

/// Offers the pairs of the tiles [first_tile, end_tile) that may lie below the limits; entries have no reduced distance
/// yet. `scan.mode` is not looked at.
template <typename Launch>
void launch_half_sum_filter(const HalfSumTask& task, std::uint32_t processors, Launch&& launch) {
  const std::uint64_t tiles = task.scan.end_tile - task.scan.first_tile;
  if (task.scan.queries.count == 0 || tiles == 0) return;
  const std::uint64_t query_blocks = (task.scan.queries.count + kHalfSumQueries - 1) / kHalfSumQueries;
  const auto launch_for = [&](auto parts) {
    constexpr std::uint32_t kParts = decltype(parts)::value;
    const std::uint32_t per_block = product_tiles_per_block(tiles, query_blocks, kHalfSumBlocks<kParts> * processors);
    launch(filter_by_half_sums<kParts>,
           static_cast<std::uint32_t>(query_blocks * ((tiles + per_block - 1) / per_block)), kHalfSumThreads,
           kHalfSumStagesBytes<kParts> + sizeof(ProductOffersStorage<kHalfSumThreads>), task,
           static_cast<std::uint32_t>(query_blocks), per_block);
  };
  static_assert(kMostDimsForHalfSums == 2 * kProductDims);
  if (task.scan.points.dims <= kProductDims) {
    launch_for(std::integral_constant<std::uint32_t, 1>{});
  } else {
    launch_for(std::integral_constant<std::uint32_t, 2>{});
  }
}

}  // namespace kith::cuda
