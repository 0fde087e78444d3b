// A scan for a few queries: points pass through shared memory at the speed of global memory, 512 at a time, and each
// thread measures four of them against all the queries of the block.
#pragma once

#include "cuda/brute_force/scan/scan_reduced.cuh"
#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/resolve_pairs.cuh"
#include "cuda/brute_force/scan/stage_rows.cuh"
#include "cuda/brute_force/scan/tile_shape.cuh"

#include <cstddef>

namespace kith::cuda {

inline constexpr std::uint32_t kFewThreads = 128;
inline constexpr std::uint32_t kFewTiles = 4;

/// What a block of kRows queries has in shared memory; behind it two buffers of points.
template <typename T, std::uint32_t kRows>
struct FewStorage {
  static constexpr std::uint32_t kSlab = 32 / sizeof(T);                 ///< dimensions at a time
  static constexpr std::uint32_t kStride = kFewTiles * kTilePoints + 4;  ///< from dimension to dimension

  alignas(16) T queries[2][kSlab][kRows];
  std::uint64_t query_starts[kRows];
  std::uint32_t tiles[2][kFewTiles];
  alignas(16) ResolveStorage<T, kFewThreads / kWarp, kRows> resolve;

  KITH_HOST_DEVICE static constexpr std::uint32_t slab(std::uint32_t dims) { return dims < kSlab ? dims : kSlab; }
  KITH_HOST_DEVICE static constexpr std::uint32_t buffer_values(std::uint32_t dims) { return slab(dims) * kStride; }
  static constexpr std::size_t bytes(std::uint32_t dims) {
    return sizeof(FewStorage) + 2 * sizeof(T) * buffer_values(dims);
  }
};

template <typename T, typename M, std::uint32_t kRows>
__global__ void __launch_bounds__(kFewThreads) scan_few(const __grid_constant__ ScanTask<T> task) {
  using Storage = FewStorage<T, kRows>;
  constexpr std::uint32_t kWidth = ScanVector<T>::kWidth;
  constexpr std::uint32_t kRuns = 4 / kWidth;
  auto& storage = *reinterpret_cast<Storage*>(shared_memory());
  T* buffers = reinterpret_cast<T*>(shared_memory() + sizeof(Storage));
  const ScanPart part = scan_part(task, kRows);
  if (part.queries == 0) return;
  if (thread_number() < kRows) {
    const std::uint32_t query = thread_number() < part.queries ? thread_number() : part.queries - 1;
    storage.query_starts[thread_number()] = task.queries.row_of(part.first_query + query) * task.queries.row_stride;
  }
  sync_block();
  PairResolver<T> resolver(task, part, storage.resolve);
  T limits[kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) limits[i] = resolver.limit(i);

  const std::uint32_t dims = task.points.dims, slab = Storage::slab(dims), buffer_values = Storage::buffer_values(dims);
  const bool is_one_slab = dims <= Storage::kSlab;  // then the queries stay
  const StageLane lane(slab, kFewThreads);
  /// Of up to 4 tiles; returns the one behind them.
  const auto stage = [&](std::uint32_t buffer, std::uint32_t tile, std::uint32_t tiles, std::uint32_t first_dim,
                         bool with_queries) {
    const std::uint32_t depth = dims - first_dim < slab ? dims - first_dim : slab;
#pragma unroll 1
    for (std::uint32_t slot = 0; slot < tiles; ++slot) {
      stage_tile(task.points, tile, first_dim, depth, lane, buffers + (buffer * buffer_values + slot * kTilePoints),
                 Storage::kStride);
      if (thread_number() == 0) storage.tiles[buffer][slot] = tile;
      tile = tile_after(task.order, tile);
    }
    if (with_queries) {
      stage_queries(task.queries, storage.query_starts, kRows, first_dim, depth, lane, &storage.queries[buffer][0][0],
                    kRows);
    }
    return tile;
  };
  const auto tiles_at = [&](std::uint32_t first) {
    return part.end_tile - first < kFewTiles ? part.end_tile - first : kFewTiles;
  };

  std::uint32_t tile = tile_at(task.order, part.first_tile);
  std::uint32_t next_tile = stage(0, tile, tiles_at(part.first_tile), 0, true);
  std::uint32_t buffer = 0;
  for (std::uint32_t first = part.first_tile; first < part.end_tile; first += kFewTiles) {
    const std::uint32_t tiles = tiles_at(first);
    T reduced[kRuns][kRows][kWidth] = {};
    std::uint32_t tile_behind = next_tile;
    std::uint32_t last_buffer = 0;
#pragma unroll 1
    for (std::uint32_t first_dim = 0; first_dim < dims; first_dim += slab, buffer ^= 1) {
      wait_for_copies();
      sync_block();  // these points are complete, and those before are no longer read
      last_buffer = buffer;
      if (first_dim + slab < dims) {
        stage(buffer ^ 1, tile, tiles, first_dim + slab, true);
      } else if (first + kFewTiles < part.end_tile) {
        tile_behind = stage(buffer ^ 1, next_tile, tiles_at(first + kFewTiles), 0, !is_one_slab);
      }
      const std::uint32_t depth = dims - first_dim < slab ? dims - first_dim : slab;
      const T* point_line = buffers + (buffer * buffer_values + thread_number() * kWidth);
      const T* query_line = &storage.queries[is_one_slab ? 0 : buffer][0][0];
#pragma unroll 2
      for (std::uint32_t d = 0; d < depth; ++d, point_line += Storage::kStride, query_line += kRows) {
        ScanVector<T> points[kRuns];
        T queries[kRows];
        if constexpr (kRows % kWidth == 0) {
#pragma unroll
          for (std::uint32_t i = 0; i < kRows; i += kWidth) {
            const auto vector = *reinterpret_cast<const ScanVector<T>*>(query_line + i);
#pragma unroll
            for (std::uint32_t j = 0; j < kWidth; ++j) queries[i + j] = vector.values[j];
          }
        } else {
#pragma unroll
          for (std::uint32_t i = 0; i < kRows; ++i) queries[i] = query_line[i];
        }
#pragma unroll
        for (std::uint32_t r = 0; r < kRuns; ++r) {
          points[r] = *reinterpret_cast<const ScanVector<T>*>(point_line + r * kFewThreads * kWidth);
#pragma unroll
          for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
            for (std::uint32_t j = 0; j < kWidth; ++j) {
              reduced[r][i][j] = core::step_of_pair(M{}, reduced[r][i][j], queries[i], points[r].values[j]);
            }
          }
        }
      }
    }
#pragma unroll
    for (std::uint32_t r = 0; r < kRuns; ++r) {
      const std::uint32_t place = (r * kFewThreads + thread_number()) * kWidth;
      const std::uint32_t slot = place / kTilePoints;  // the same for a warp
      if (slot >= tiles) continue;
      finish_sums<M>(reduced[r]);
      resolver.resolve(
          reduced[r], limits, [](std::uint32_t i) { return i; },
          [&] {
            return PointRun{std::uint64_t{storage.tiles[last_buffer][slot]} * kTilePoints + place % kTilePoints,
                            (first - task.first_tile) * kTilePoints + place};
          });
    }
    tile = next_tile;
    next_tile = tile_behind;
  }
  resolver.finish();
}

}  // namespace kith::cuda
