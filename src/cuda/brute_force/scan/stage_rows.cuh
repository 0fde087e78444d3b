// Rows on their way from global to shared memory, where each dimension has its own line.
#pragma once

#include "cuda/brute_force/scan/scan_types.hpp"
#include "cuda/primitives/intrinsics.cuh"

#include <cstdint>

namespace kith::cuda {

/// Whose values a thread copies: one of `width` dimensions, of every so many rows, so that neighbours copy what lies
/// side by side. With rows of many dimensions 8 are good: 4 rows by a warp, 32 bytes or more of each, and 32 banks.
struct StageLane {
  std::uint32_t width, dim, row, rows;

  __device__ StageLane(std::uint32_t dims_wide, std::uint32_t threads)
      : width(dims_wide), dim(thread_number() % width), row(thread_number() / width), rows(threads / width) {
    if (row >= rows) row = 0xffffffff;  // some threads are too many
  }
};

/// Starts to copy dimensions [first_dim, first_dim + depth) of the points of a tile to to[dimension][stride]. Behind
/// the last point it comes again.
template <typename T>
__device__ __forceinline__ void stage_tile(const ScanPoints<T>& points, std::uint64_t tile, std::uint32_t first_dim,
                                           std::uint32_t depth, const StageLane& lane, T* to, std::uint32_t stride) {
  const std::uint64_t first = tile * kTilePoints, behind = points.count - 1 - first;
  const std::uint32_t last = behind < kTilePoints ? static_cast<std::uint32_t>(behind) : kTilePoints - 1;
  const T* rows = points.rows + (first * points.dims + first_dim);
  for (std::uint32_t row = lane.row; row < kTilePoints; row += lane.rows) {
    const T* from = rows + (row < last ? row : last) * points.dims;
    for (std::uint32_t d = lane.dim; d < depth; d += lane.width) copy_to_shared(to + d * stride + row, from + d);
  }
}

/// The same for `count` queries, whose rows begin at `starts`.
template <typename T>
__device__ __forceinline__ void stage_queries(const ScanQueries<T>& queries, const std::uint64_t* starts,
                                              std::uint32_t count, std::uint32_t first_dim, std::uint32_t depth,
                                              const StageLane& lane, T* to, std::uint32_t stride) {
  for (std::uint32_t row = lane.row; row < count; row += lane.rows) {
    const T* from = queries.rows + starts[row] + first_dim;
    for (std::uint32_t d = lane.dim; d < depth; d += lane.width) copy_to_shared(to + d * stride + row, from + d);
  }
}

/// Starts to copy kSlab dimensions of kRows rows, by 256 threads: thread t does it for dimensions t % 8 + 8 i of the
/// rows t / 8 + 32 i. `row_at` says where each begins; `dims` dimensions are left, and behind them come zeros, which no
/// reduced distance notices.
template <std::uint32_t kSlab, std::uint32_t kRows, std::uint32_t kStride, typename T, typename RowAt>
__device__ __forceinline__ void stage_slab(const RowAt& row_at, std::uint32_t dims, T* to) {
  const std::uint32_t dim = thread_number() % 8, row = thread_number() / 8;
  to += dim * kStride + row;
  if (dims >= kSlab) {
#pragma unroll
    for (std::uint32_t r = 0; r < kRows; r += 32) {
      const T* from = row_at(row + r) + dim;
#pragma unroll
      for (std::uint32_t d = 0; d < kSlab; d += 8) copy_to_shared(to + (d * kStride + r), from + d);
    }
  } else {
#pragma unroll 1
    for (std::uint32_t r = 0; r < kRows; r += 32) {
      const T* from = row_at(row + r) + dim;
      for (std::uint32_t d = 0; d < kSlab; d += 8) {
        if (dim + d < dims) {
          copy_to_shared(to + (d * kStride + r), from + d);
        } else {
          to[d * kStride + r] = T(0);
        }
      }
    }
  }
}

}  // namespace kith::cuda
