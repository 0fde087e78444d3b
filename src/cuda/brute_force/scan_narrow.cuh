// A scan of points with few dims: the queries of a thread stay in registers, and four tiles of points are in shared
// memory while the next four are on their way.
//
// A pair takes two instructions per dimension and one comparison; what else there is, a thread does for 32 pairs at a
// time.
#pragma once

#include "cuda/brute_force/scan_chains.cuh"
#include "cuda/brute_force/scan_part.cuh"
#include "cuda/brute_force/settle_pairs.cuh"
#include "cuda/brute_force/stage_rows.cuh"
#include "cuda/brute_force/tile_shape.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kNarrowTiles = 4;

template <typename T, std::uint32_t kDims>
struct NarrowRoom {
  // From dimension to dimension, so that consecutive values of rows go to different banks, or nearly so.
  static constexpr std::uint32_t kPad = kDims == 3 ? 12 : 32 / kDims;
  static constexpr std::uint32_t kStride = kTilePoints + kPad;

  alignas(16) T points[2][kNarrowTiles][kDims][kStride];
  std::uint32_t tiles[2][kNarrowTiles];
  SettleRoom<T, TileShape<T>::kWarps, TileShape<T>::kQueries> settle;
};

/// Points of at most kDims dims.
template <typename T, typename Chain, std::uint32_t kDims>
__global__ void __launch_bounds__(TileShape<T>::kThreads, 2) scan_narrow(const __grid_constant__ ScanTask<T> task) {
  using Shape = TileShape<T>;
  using Room = NarrowRoom<T, kDims>;
  auto& room = *reinterpret_cast<Room*>(shared_memory());
  const ScanPart part = scan_part(task, Shape::kQueries);
  if (part.queries == 0) return;
  const std::uint32_t dims = task.points.dims;
  if (dims < kDims) {  // nobody writes there again
    T* all = &room.points[0][0][0][0];
    for (std::uint32_t i = thread_number(); i < sizeof(room.points) / sizeof(T); i += Shape::kThreads) all[i] = T(0);
    sync_block();
  }
  PairSettler<T> settler(task, part, room.settle);
  const std::uint32_t first_query = Shape::first_query(), first_point = Shape::first_point();
  T queries[Shape::kRows][kDims], limits[Shape::kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
    std::uint32_t query = first_query + Shape::query_step(i);
    limits[i] = settler.limit(query);
    if (query >= part.queries) query = part.queries - 1;
    const T* from = task.queries.rows + task.queries.row_of(part.first_query + query) * task.queries.row_stride;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) queries[i][d] = d < dims ? from[d] : T(0);
  }
  const StageLane lane(dims, Shape::kThreads);
  std::uint32_t staged = part.first_tile, tile = tile_at(task.order, part.first_tile);
  const auto stage = [&](std::uint32_t buffer) {
#pragma unroll 1
    for (std::uint32_t slot = 0; slot < kNarrowTiles && staged < part.end_tile; ++slot, ++staged) {
      stage_tile(task.points, tile, 0, dims, lane, &room.points[buffer][slot][0][0], Room::kStride);
      if (thread_number() == 0) room.tiles[buffer][slot] = tile;
      tile = tile_after(task.order, tile);
    }
  };
  stage(0);
  std::uint32_t buffer = 0;
  for (std::uint32_t first = part.first_tile; first < part.end_tile; first += kNarrowTiles, buffer ^= 1) {
    wait_for_copies();
    sync_block();  // these points are there, and nobody reads the ones before any more
    stage(buffer ^ 1);
    const std::uint32_t slots = part.end_tile - first < kNarrowTiles ? part.end_tile - first : kNarrowTiles;
#pragma unroll 1
    for (std::uint32_t step = 0; step < slots * Shape::kRuns; ++step) {
      const std::uint32_t slot = step / Shape::kRuns;
      const std::uint32_t position = step % Shape::kRuns * Shape::kSpan + first_point;
      ScanVector<T> points[kDims];
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
        points[d] = *reinterpret_cast<const ScanVector<T>*>(&room.points[buffer][slot][d][position]);
      }
      T chains[Shape::kRows][Shape::kWidth];
#pragma unroll
      for (std::uint32_t i = 0; i < Shape::kRows; ++i) {
#pragma unroll
        for (std::uint32_t j = 0; j < Shape::kWidth; ++j) {
          T sum = T(0);
#pragma unroll
          for (std::uint32_t d = 0; d < kDims; ++d) {
            sum = Chain{}.step(sum, T(queries[i][d] - points[d].values[j]));
          }
          chains[i][j] = sum;
        }
      }
      settler.settle(
          chains, limits, [&](std::uint32_t i) { return first_query + Shape::query_step(i); },
          [&] {
            return PointRun{std::uint64_t{room.tiles[buffer][slot]} * kTilePoints + position,
                            (first + slot - task.first_tile) * kTilePoints + position};
          });
    }
  }
  settler.finish();
}

}  // namespace kith::cuda
