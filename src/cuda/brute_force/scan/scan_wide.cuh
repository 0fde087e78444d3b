// A scan of points with any number of dims: slab by slab of dimensions, and all pairs of a tile grow in registers. The
// next slab is on its way to shared memory meanwhile.
//
// A pair takes two instructions per dimension; reading shared memory takes 4 for 64 (f32) or 6 for 32 (f64) of them.
#pragma once

#include "cuda/brute_force/scan/scan_reduced.cuh"
#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/resolve_pairs.cuh"
#include "cuda/brute_force/scan/stage_rows.cuh"
#include "cuda/brute_force/scan/tile_shape.cuh"

namespace kith::cuda {

template <typename T>
struct WideStorage {
  using Shape = TileShape<T>;
  static constexpr std::uint32_t kSlab = 64 / sizeof(T);           ///< dimensions at a time
  static constexpr std::uint32_t kDepth = sizeof(T) == 4 ? 5 : 6;  ///< of pairs that wait

  alignas(16) T points[2][kSlab][Shape::kPointStride];
  alignas(16) T queries[2][kSlab][Shape::kQueryStride];
  alignas(16) T limits[Shape::kQueries];
  std::uint64_t query_starts[Shape::kQueries];
  ResolveStorage<T, Shape::kWarps, Shape::kQueries, kDepth> resolve;
};

template <typename T, typename M>
__global__ void __launch_bounds__(TileShape<T>::kThreads, 2) scan_wide(const __grid_constant__ ScanTask<T> task) {
  using Shape = TileShape<T>;
  using Storage = WideStorage<T>;
  constexpr std::uint32_t kUnroll = 4;  // dimensions are computed by fours, the last of them may be zeros
  auto& storage = *reinterpret_cast<Storage*>(shared_memory());
  const ScanPart part = scan_part(task, Shape::kQueries);
  if (part.queries == 0) return;
  for (std::uint32_t i = thread_number(); i < Shape::kQueries; i += Shape::kThreads) {
    const std::uint32_t query = i < part.queries ? i : part.queries - 1;
    storage.query_starts[i] = task.queries.row_of(part.first_query + query) * task.queries.row_stride;
  }
  sync_block();
  PairResolver<T, Storage::kDepth> resolver(task, part, storage.resolve);
  const std::uint32_t first_query = Shape::first_query(), first_point = Shape::first_point();
  for (std::uint32_t i = thread_number(); i < Shape::kQueries; i += Shape::kThreads)
    storage.limits[i] = resolver.limit(i);

  const std::uint32_t dims = task.points.dims;
  const bool is_one_slab = dims <= Storage::kSlab;  // then the queries stay
  const auto stage = [&](std::uint32_t to, std::uint32_t from, std::uint32_t first_dim, bool with_queries) {
    const std::uint64_t first = std::uint64_t{from} * kTilePoints, behind = task.points.count - 1 - first;
    const std::uint32_t last = behind < kTilePoints ? static_cast<std::uint32_t>(behind) : kTilePoints - 1;
    const T* points = task.points.rows + (first * dims + first_dim);
    stage_slab<Storage::kSlab, kTilePoints, Shape::kPointStride>(
        [&](std::uint32_t row) { return points + (row < last ? row : last) * dims; }, dims - first_dim,
        &storage.points[to][0][0]);
    if (!with_queries) return;
    const T* queries = task.queries.rows + first_dim;
    stage_slab<Storage::kSlab, Shape::kQueries, Shape::kQueryStride>(
        [&](std::uint32_t row) { return queries + storage.query_starts[row]; }, dims - first_dim,
        &storage.queries[to][0][0]);
  };

  std::uint32_t tile = tile_at(task.order, part.first_tile);
  stage(0, tile, 0, true);
  std::uint32_t buffer = 0;
  for (std::uint32_t i_tile = part.first_tile; i_tile < part.end_tile; ++i_tile) {
    const std::uint32_t next_tile = tile_after(task.order, tile);
    T reduced[Shape::kRuns][Shape::kRows][Shape::kWidth] = {};
#pragma unroll 1
    for (std::uint32_t first_dim = 0; first_dim < dims; first_dim += Storage::kSlab, buffer ^= 1) {
      wait_for_copies();
      sync_block();  // this slab is complete, and the one before is no longer read
      const bool is_last = first_dim + Storage::kSlab >= dims;
      if (!is_last || i_tile + 1 < part.end_tile) {
        stage(buffer ^ 1, is_last ? next_tile : tile, is_last ? 0 : first_dim + Storage::kSlab, !is_one_slab);
      }
      const std::uint32_t depth = dims - first_dim < Storage::kSlab ? dims - first_dim : Storage::kSlab;
      const T* query_line = &storage.queries[is_one_slab ? 0 : buffer][0][first_query];
      const T* point_line = &storage.points[buffer][0][first_point];
#pragma unroll 1
      for (std::uint32_t d = 0; d < depth; d += kUnroll) {
#pragma unroll
        for (std::uint32_t u = 0; u < kUnroll; ++u) {
          ScanVector<T> queries[2], points[Shape::kRuns];
#pragma unroll
          for (std::uint32_t g = 0; g < 2; ++g) {
            queries[g] =
                *reinterpret_cast<const ScanVector<T>*>(query_line + (u * Shape::kQueryStride + g * Shape::kSpan));
          }
#pragma unroll
          for (std::uint32_t r = 0; r < Shape::kRuns; ++r) {
            points[r] =
                *reinterpret_cast<const ScanVector<T>*>(point_line + (u * Shape::kPointStride + r * Shape::kSpan));
          }
#pragma unroll
          for (std::uint32_t r = 0; r < Shape::kRuns; ++r) {
#pragma unroll
            for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
#pragma unroll
              for (std::uint32_t j = 0; j < Shape::kWidth; ++j) {
                const T query = queries[i / Shape::kWidth].values[i % Shape::kWidth];
                reduced[r][i][j] = core::step_of_pair(M{}, reduced[r][i][j], query, points[r].values[j]);
              }
            }
          }
        }
        query_line += kUnroll * Shape::kQueryStride;
        point_line += kUnroll * Shape::kPointStride;
      }
    }
#pragma unroll
    for (std::uint32_t r = 0; r < Shape::kRuns; ++r) finish_sums<M>(reduced[r]);
    T limits[Shape::kRows];  // they are in the way while pairs grow
#pragma unroll
    for (std::uint32_t g = 0; g < 2; ++g) {
      const auto vector = *reinterpret_cast<const ScanVector<T>*>(&storage.limits[first_query + g * Shape::kSpan]);
#pragma unroll
      for (std::uint32_t j = 0; j < Shape::kWidth; ++j) limits[g * Shape::kWidth + j] = vector.values[j];
    }
#pragma unroll
    for (std::uint32_t r = 0; r < Shape::kRuns; ++r) {
      const std::uint32_t position = r * Shape::kSpan + first_point;
      resolver.resolve(
          reduced[r], limits, [&](std::uint32_t i) { return first_query + Shape::query_step(i); },
          [&] {
            return PointRun{std::uint64_t{tile} * kTilePoints + position,
                            (i_tile - task.first_tile) * kTilePoints + position};
          });
    }
    tile = next_tile;
  }
  resolver.finish();
}

}  // namespace kith::cuda
