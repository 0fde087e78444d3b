// How slabs of packed rows come into shared memory for products, some steps ahead.
//
// A slab is 64 dims of some rows, 128 bytes of each. Piece c of 16 bytes of row r lies at place c ^ (r % 8) of its row:
// the 8 rows that a matrix is loaded from, and the 8 pieces of a row that 8 lanes copy, are in different banks.
#pragma once

#include "core/host_device.hpp"
#include "cuda/brute_force/filter/product_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

inline constexpr std::uint32_t kProductThreads = 256;
inline constexpr std::uint32_t kSlabDims = 64;
inline constexpr std::uint32_t kSlabRowBytes = 2 * kSlabDims;
inline constexpr std::uint32_t kPieceBytes = 16;
inline constexpr std::uint32_t kPieceDims = kPieceBytes / 2;
inline constexpr std::uint32_t kPiecesPerRow = kSlabRowBytes / kPieceBytes;
inline constexpr std::uint32_t kProductStages = 4;
/// The queries of a block stay in shared memory up to so many dims.
inline constexpr std::uint32_t kResidentDims = 256;

KITH_HOST_DEVICE constexpr std::uint32_t slabs_of(std::uint32_t padded_dims) {
  return (padded_dims + kSlabDims - 1) / kSlabDims;
}

/// How a block divides its work and its shared memory. If queries stay, two teams of four warps take half of each tile
/// and need not wait for each other: while one compares, the other multiplies. If they come with the points, slab by
/// slab, all warps are one team.
template <bool kStay>
struct ProductShape {
  static constexpr std::uint32_t kTeams = kStay ? 2 : 1;
  static constexpr std::uint32_t kTeamThreads = kProductThreads / kTeams;
  static constexpr std::uint32_t kTeamPoints = kTilePoints / kTeams;
  // A stage: a slab of points, one of queries unless they stay, terms and scales of the points.
  static constexpr std::uint32_t kQueriesAt = kTeamPoints * kSlabRowBytes;
  static constexpr std::uint32_t kTermsAt = kQueriesAt + (kStay ? 0 : kProductQueries * kSlabRowBytes);
  static constexpr std::uint32_t kScalesAt = kTermsAt + kTeamPoints * 4;
  static constexpr std::uint32_t kStageBytes = kScalesAt + kTeamPoints * 4;
  // All: the stages of the teams, what is compared with, queries that stay.
  static constexpr std::uint32_t kStagesBytes = kTeams * kProductStages * kStageBytes;
  static constexpr std::uint32_t kResidentAt = kStagesBytes + kProductQueries * 8;

  /// Without what is noted of pairs.
  KITH_HOST_DEVICE static constexpr std::uint32_t shared_bytes(std::uint32_t padded_dims) {
    return kResidentAt + (kStay ? slabs_of(padded_dims) * kProductQueries * kSlabRowBytes : 0);
  }
};

/// kThreads threads start to copy slab `slab` of kRows rows.
template <std::uint32_t kRows, std::uint32_t kThreads>
__device__ void copy_slab(const ProductRows& packed, std::uint64_t first_row, std::uint32_t slab, std::uint32_t to,
                          std::uint32_t thread) {
  const std::uint32_t piece = thread % kPiecesPerRow, row = thread / kPiecesPerRow;
  const std::uint32_t dim = slab * kSlabDims + piece * kPieceDims;
  if (dim >= packed.padded_dims) return;
  constexpr std::uint32_t kRowsAtOnce = kThreads / kPiecesPerRow;
  static_assert(kRowsAtOnce % 8 == 0);
  const std::uint16_t* from = packed.values + (first_row + row) * packed.padded_dims + dim;
  to += row * kSlabRowBytes + (piece ^ row % 8) * kPieceBytes;
#pragma unroll
  for (std::uint32_t i = 0; i < kRows / kRowsAtOnce; ++i) {
    copy_16_to_shared(to + i * kRowsAtOnce * kSlabRowBytes, from + std::uint64_t{i * kRowsAtOnce} * packed.padded_dims);
  }
}

/// Walks ahead of a team over its tiles, slab by slab.
template <bool kStay>
class SlabCopies {
 public:
  using Shape = ProductShape<kStay>;

  __device__ SlabCopies(const ProductTask& task, std::uint64_t first_tile, std::uint64_t end_tile,
                        std::uint64_t first_query, std::uint32_t stages)
      : tile_(task.scan.order.at(first_tile)),
        first_query_(first_query),
        stages_(stages),
        left_(static_cast<std::uint32_t>(end_tile - first_tile)) {}

  /// Starts to copy the next slab, if there is one.
  __device__ void start(const ProductTask& task, std::uint32_t stage) {
    if (left_ > 0) {
      const std::uint32_t to = stages_ + stage * Shape::kStageBytes;
      const std::uint32_t thread = thread_number() % Shape::kTeamThreads;
      const std::uint64_t first = tile_ * kTilePoints + thread_number() / Shape::kTeamThreads * Shape::kTeamPoints;
      copy_slab<Shape::kTeamPoints, Shape::kTeamThreads>(task.points, first, slab_, to, thread);
      if constexpr (!kStay) {
        copy_slab<kProductQueries, Shape::kTeamThreads>(task.queries, first_query_, slab_, to + Shape::kQueriesAt,
                                                        thread);
      }
      if (++slab_ == slabs_of(task.points.padded_dims)) {
        constexpr std::uint32_t kPieces = Shape::kTeamPoints / 4;
        if (thread < 2 * kPieces) {
          const float* from = (thread < kPieces ? task.points.terms : task.points.scales) + first;
          copy_16_to_shared(to + Shape::kTermsAt + thread * kPieceBytes, from + thread % kPieces * 4);
        }
        slab_ = 0;
        tile_ = task.scan.order.after(tile_);
        --left_;
      }
    }
    commit_copies();
  }

 private:
  std::uint64_t tile_;
  std::uint64_t first_query_;
  std::uint32_t stages_;
  std::uint32_t left_;
  std::uint32_t slab_ = 0;
};

}  // namespace kith::cuda
