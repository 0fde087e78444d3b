// A scan for a few queries of points with few dims, at the speed of global memory: a warp per tile, four points of it
// for each lane, straight to registers, and the next tile on its way.
#pragma once

#include "cuda/brute_force/scan/rows_in_vectors.cuh"
#include "cuda/brute_force/scan/scan_reduced.cuh"
#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/resolve_pairs.cuh"
#include "cuda/brute_force/scan/tile_shape.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kStreamWarps = 4;

template <typename T, std::uint32_t kRows>
struct StreamStorage {
  ResolveStorage<T, kStreamWarps, kRows> resolve;
};

/// The points of this lane in a tile; behind the last one comes anything.
template <typename T, std::uint32_t kDims>
__device__ __forceinline__ void load_four(const ScanPoints<T>& points, std::uint32_t tile,
                                          RowsInVectors<T, kDims, 4>& rows) {
  static_assert(kTilePoints == 4 * kWarp);
  const std::uint64_t first = std::uint64_t{tile} * kTilePoints + lane_number() * 4;
  const T* from = points.rows + first * kDims;
  if (first + 4 <= points.count) {
    rows.load(from);
  } else {
    rows.load_some(from, first < points.count ? (points.count - first) * kDims : 0);
  }
}

/// The rows are aligned.
template <typename T, typename M, std::uint32_t kDims, std::uint32_t kRows>
__global__ void __launch_bounds__(kStreamWarps* kWarp) scan_stream(const __grid_constant__ ScanTask<T> task) {
  constexpr std::uint32_t kWidth = ScanVector<T>::kWidth;
  auto& storage = *reinterpret_cast<StreamStorage<T, kRows>*>(shared_memory());
  const ScanPart part = scan_part(task, kRows);
  if (part.queries == 0) return;
  PairResolver<T> resolver(task, part, storage.resolve);
  T queries[kRows][kDims], limits[kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
    limits[i] = resolver.limit(i);
    const std::uint64_t query = part.first_query + (i < part.queries ? i : part.queries - 1);
    const T* from = task.queries.rows + task.queries.row_of(query) * task.queries.row_stride;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) queries[i][d] = from[d];
  }
  // The warps of a block take turns.
  std::uint32_t first = part.first_tile + warp_number();
  if (first < part.end_tile) {
    const std::uint32_t step = tile_at(task.order, kStreamWarps);
    std::uint32_t tile = tile_at(task.order, first);
    RowsInVectors<T, kDims, 4> rows;
    load_four(task.points, tile, rows);
    for (;;) {
      const std::uint32_t next = tile_after(task.order, tile, step);
      const bool is_last = part.end_tile - first <= kStreamWarps;
      RowsInVectors<T, kDims, 4> coming;
      load_four(task.points, is_last ? tile : next, coming);
#pragma unroll
      for (std::uint32_t r = 0; r < 4; r += kWidth) {
        T reduced[kRows][kWidth];
#pragma unroll
        for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
          for (std::uint32_t j = 0; j < kWidth; ++j) {
            T sum = T(0);
#pragma unroll
            for (std::uint32_t d = 0; d < kDims; ++d)
              sum = core::step_of_pair(M{}, sum, queries[i][d], rows.value(r + j, d));
            reduced[i][j] = sum;
          }
        }
        resolver.resolve(
            reduced, limits, [](std::uint32_t i) { return i; },
            [&] {
              const std::uint32_t position = lane_number() * 4 + r;
              return PointRun{std::uint64_t{tile} * kTilePoints + position,
                              (first - task.first_tile) * kTilePoints + position};
            });
      }
      if (is_last) break;
      rows = coming;
      tile = next;
      first += kStreamWarps;
    }
  }
  resolver.finish();
}

}  // namespace kith::cuda
