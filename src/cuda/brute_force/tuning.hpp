// The numbers of brute force on the GPU that choose between kernels or that several files rely on.
#pragma once

#include <cstdint>

namespace kith::cuda {

/// Points of a tile, which a block of a scan works on at a time.
inline constexpr std::uint32_t kTilePoints = 128;
/// The most that lists of candidates take at a time.
inline constexpr std::uint64_t kCandidateBytes = std::uint64_t{1} << 30;

/// From so many dims on tensor cores filter faster than the reduced distances of all pairs are found.
inline constexpr std::uint32_t kFewestDimsForProducts = 5;
/// Fewer points are not worth a filter.
inline constexpr std::uint64_t kFewestPointsForProducts = 1024;
/// The queries of one block of the filter. There is memory for whole blocks of rows, of points as well.
inline constexpr std::uint32_t kProductQueries = 256;
/// Up to so many dims sums in halves are exact enough to filter with, where there are `Tuning::gpu_half_sum_pairs`
/// pairs and a GPU of this generation at least: two of them are in a register, and a pair that is dismissed costs half
/// an instruction.
inline constexpr std::uint32_t kMostDimsForHalfSums = 32;
inline constexpr int kOldestForHalfSums = 8;
/// Products take 16 dims at a time; those beyond the last are zeros.
inline constexpr std::uint32_t kProductDims = 16;
static_assert(kProductQueries % kTilePoints == 0, "packed points end with a tile");

/// The most neighbours that the selections by insertion and by warps keep.
inline constexpr std::uint32_t kMostByInsertion = 32, kMostByWarps = 256;

}  // namespace kith::cuda
