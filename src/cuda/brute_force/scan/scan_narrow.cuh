// A scan of points with few dims: the queries of a thread stay in registers, and four tiles of points are in shared
// memory while the next four are on their way.
//
// A pair takes two instructions per dimension and one to find the least of its row; what else there is, a thread does
// for 32 pairs at a time. Reduced distances are not kept, which leaves registers for more warps: the rare row that has
// a pair within the limit is measured once more.
#pragma once

#include "cuda/brute_force/scan/rows_in_vectors.cuh"
#include "cuda/brute_force/scan/scan_reduced.cuh"
#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/resolve_rows.cuh"
#include "cuda/brute_force/scan/tile_shape.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kNarrowTiles = 4;

/// Blocks that a processor has at the same time.
template <std::uint32_t kDims>
inline constexpr std::uint32_t kNarrowResident = kDims <= 3 ? 3 : 2;

template <typename T, std::uint32_t kDims>
struct NarrowStorage {
  static constexpr std::uint32_t kDepth = sizeof(T) == 4 ? 16 : 8;  ///< of rows that wait

  alignas(16) T points[2][kNarrowTiles][kTilePoints * kDims];  ///< row by row
  std::uint32_t tiles[2][kNarrowTiles];
  ResolveRowsStorage<TileShape<T>::kWarps, TileShape<T>::kQueries, kDepth> resolve;
};

/// A thread of some that copy a tile to shared memory: thread i of `threads`. Values behind the last point and behind
/// the dims of the points are not written.
template <typename T, std::uint32_t kDims, std::uint32_t kThreads>
__device__ __forceinline__ void stage_whole_tile(const ScanPoints<T>& points, std::uint32_t tile, std::uint32_t i,
                                                 T* to) {
  using Vector = ScanVector<T>;
  const std::uint64_t first = std::uint64_t{tile} * kTilePoints;
  const T* from = points.rows + first * points.dims;
  if (points.dims == kDims && first + kTilePoints <= points.count && are_aligned(points)) {
    constexpr std::uint32_t kVectors = kTilePoints * kDims / Vector::kWidth;
#pragma unroll
    for (std::uint32_t pass = 0; pass < (kVectors + kThreads - 1) / kThreads; ++pass) {
      const std::uint32_t v = pass * kThreads + i;
      if (kVectors % kThreads == 0 || v < kVectors) {
        copy_to_shared(reinterpret_cast<Vector*>(to) + v, reinterpret_cast<const Vector*>(from) + v);
      }
    }
  } else {
    const std::uint64_t left = points.count - first;
    const std::uint32_t rows = left < kTilePoints ? static_cast<std::uint32_t>(left) : kTilePoints;
#pragma unroll 1
    for (std::uint32_t row = i; row < rows; row += kThreads) {
      for (std::uint32_t d = 0; d < points.dims; ++d) {
        copy_to_shared(to + row * kDims + d, from + row * points.dims + d);
      }
    }
  }
}

/// Points of at most kDims dims.
template <typename T, typename M, std::uint32_t kDims>
__global__ void __launch_bounds__(TileShape<T>::kThreads, kNarrowResident<kDims>)
    scan_narrow(const __grid_constant__ ScanTask<T> task) {
  using Shape = TileShape<T>;
  using Storage = NarrowStorage<T, kDims>;
  auto& storage = *reinterpret_cast<Storage*>(shared_memory());
  const ScanPart part = scan_part(task, Shape::kQueries);
  if (part.queries == 0) return;
  const std::uint32_t dims = task.points.dims;
  if (dims < kDims) {  // it is not written again
    T* all = &storage.points[0][0][0];
    for (std::uint32_t i = thread_number(); i < sizeof(storage.points) / sizeof(T); i += Shape::kThreads) all[i] = T(0);
    sync_block();
  }
  RowResolver<T, M, kDims, Shape::kWidth, Storage::kDepth> resolver(task, part, storage.resolve);
  const std::uint32_t first_query = Shape::first_query(), first_point = Shape::first_point();
  T queries[Shape::kRows][kDims], limits[Shape::kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
    std::uint32_t query = first_query + Shape::query_step(i);
    limits[i] = resolver.limit(query);
    if (query >= part.queries) query = part.queries - 1;
    const T* from = task.queries.rows + task.queries.row_of(part.first_query + query) * task.queries.row_stride;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) queries[i][d] = d < dims ? from[d] : T(0);
  }
  // Two warps copy a tile.
  constexpr std::uint32_t kStageThreads = Shape::kThreads / kNarrowTiles;
  const std::uint32_t own_slot = thread_number() / kStageThreads, stride = tile_at(task.order, kNarrowTiles);
  std::uint32_t staged = part.first_tile + own_slot, tile = tile_at(task.order, staged);
  const auto stage = [&](std::uint32_t buffer) {
    if (staged >= part.end_tile) return;
    const std::uint32_t i = thread_number() % kStageThreads;
    stage_whole_tile<T, kDims, kStageThreads>(task.points, tile, i, &storage.points[buffer][own_slot][0]);
    if (i == 0) storage.tiles[buffer][own_slot] = tile;
    tile = tile_after(task.order, tile, stride);
    staged += kNarrowTiles;
  };
  stage(0);
  std::uint32_t buffer = 0;
  for (std::uint32_t first = part.first_tile; first < part.end_tile; first += kNarrowTiles, buffer ^= 1) {
    wait_for_copies();
    sync_block();  // these points are complete, and those before are no longer read
    stage(buffer ^ 1);
    const std::uint32_t slots = part.end_tile - first < kNarrowTiles ? part.end_tile - first : kNarrowTiles;
    const T* from = &storage.points[buffer][0][first_point * kDims];
    static_assert(Shape::kRuns * Shape::kSpan == kTilePoints);
#pragma unroll 1
    for (std::uint32_t left = slots * Shape::kRuns; left != 0; --left, from += Shape::kSpan * kDims) {
      RowsInVectors<T, kDims, Shape::kWidth> points;
      points.load(from);
      const auto measure = [&](const T(&query)[kDims], std::uint32_t j) {
        T sum = T(0);
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) sum = core::step_of_pair(M{}, sum, query[d], points.value(j, d));
        return core::finish_sum(M{}, sum);
      };
      NearRows<T, Shape::kRows> rows;
#pragma unroll
      for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
#pragma unroll
        for (std::uint32_t j = 0; j < Shape::kWidth; ++j) rows.add(i, j, measure(queries[i], j), limits[i]);
      }
      resolver.resolve(
          rows, limits, [&](std::uint32_t i) { return first_query + Shape::query_step(i); },
          [&] {
            const std::uint32_t step = slots * Shape::kRuns - left, slot = step / Shape::kRuns;
            const std::uint32_t position = step % Shape::kRuns * Shape::kSpan + first_point;
            return PointRun{std::uint64_t{storage.tiles[buffer][slot]} * kTilePoints + position,
                            (first + slot - task.first_tile) * kTilePoints + position};
          },
          [&](std::uint32_t i, T(&reduced)[Shape::kWidth]) {
            T query[kDims];
#pragma unroll
            for (std::uint32_t d = 0; d < kDims; ++d) query[d] = made_anew(queries[i][d]);
#pragma unroll
            for (std::uint32_t j = 0; j < Shape::kWidth; ++j) reduced[j] = measure(query, j);
          });
    }
  }
  resolver.finish();
}

}  // namespace kith::cuda
