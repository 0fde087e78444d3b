// A scan for a few queries of points with few dims, at the speed of global memory: a warp per tile, four points of it
// for each lane, straight to registers, and the next tile on its way.
#pragma once

#include "cuda/brute_force/scan_chains.cuh"
#include "cuda/brute_force/scan_part.cuh"
#include "cuda/brute_force/settle_pairs.cuh"
#include "cuda/brute_force/tile_shape.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kStreamWarps = 4;

template <typename T, std::uint32_t kRows>
struct StreamRoom {
  SettleRoom<T, kStreamWarps, kRows> settle;
};

/// Rows that are read by vectors lie at a multiple of 16 bytes.
template <typename T>
bool can_stream(const ScanPoints<T>& points) {
  return reinterpret_cast<std::uintptr_t>(points.rows) % sizeof(ScanVector<T>) == 0;
}

/// Four rows of kDims values.
template <typename T, std::uint32_t kDims>
struct FourRows {
  static constexpr std::uint32_t kWidth = ScanVector<T>::kWidth;
  static constexpr std::uint32_t kVectors = 4 * kDims / kWidth;
  static_assert(kTilePoints == 4 * kWarp);

  ScanVector<T> vectors[kVectors];

  __device__ T value(std::uint32_t row, std::uint32_t d) const {
    return vectors[(row * kDims + d) / kWidth].values[(row * kDims + d) % kWidth];
  }
  /// Those of this lane; behind the last point comes anything.
  __device__ __forceinline__ void load(const ScanPoints<T>& points, std::uint32_t tile) {
    const std::uint64_t first = std::uint64_t{tile} * kTilePoints + lane_number() * 4;
    const T* from = points.rows + first * kDims;
    if (first + 4 <= points.count) {
#pragma unroll
      for (std::uint32_t v = 0; v < kVectors; ++v) {
        vectors[v] = *reinterpret_cast<const ScanVector<T>*>(from + v * kWidth);
      }
    } else {
      const std::uint64_t values = points.count * kDims;
#pragma unroll
      for (std::uint32_t i = 0; i < 4 * kDims; ++i) {
        vectors[i / kWidth].values[i % kWidth] = first * kDims + i < values ? from[i] : T(0);
      }
    }
  }
};

template <typename T, typename Chain, std::uint32_t kDims, std::uint32_t kRows>
__global__ void __launch_bounds__(kStreamWarps* kWarp) scan_stream(const __grid_constant__ ScanTask<T> task) {
  constexpr std::uint32_t kWidth = ScanVector<T>::kWidth;
  auto& room = *reinterpret_cast<StreamRoom<T, kRows>*>(shared_memory());
  const ScanPart part = scan_part(task, kRows);
  if (part.queries == 0) return;
  PairSettler<T> settler(task, part, room.settle);
  T queries[kRows][kDims], limits[kRows];
#pragma unroll
  for (std::uint32_t i = 0; i < kRows; ++i) {
    limits[i] = settler.limit(i);
    const std::uint64_t query = part.first_query + (i < part.queries ? i : part.queries - 1);
    const T* from = task.queries.rows + task.queries.row_of(query) * task.queries.row_stride;
#pragma unroll
    for (std::uint32_t d = 0; d < kDims; ++d) queries[i][d] = from[d];
  }
  // The warps of a block take turns.
  std::uint32_t first = part.first_tile + warp_number();
  if (first < part.end_tile) {
    const auto step = static_cast<std::uint32_t>(task.order.at(kStreamWarps));
    std::uint32_t tile = tile_at(task.order, first);
    FourRows<T, kDims> rows;
    rows.load(task.points, tile);
    for (;;) {
      const std::uint32_t next =
          tile + step < task.order.tiles ? tile + step : static_cast<std::uint32_t>(tile + step - task.order.tiles);
      const bool is_last = part.end_tile - first <= kStreamWarps;
      FourRows<T, kDims> coming;
      coming.load(task.points, is_last ? tile : next);
#pragma unroll
      for (std::uint32_t r = 0; r < 4; r += kWidth) {
        T chains[kRows][kWidth];
#pragma unroll
        for (std::uint32_t i = 0; i < kRows; ++i) {
#pragma unroll
          for (std::uint32_t j = 0; j < kWidth; ++j) {
            T sum = T(0);
#pragma unroll
            for (std::uint32_t d = 0; d < kDims; ++d) sum = Chain{}.step(sum, T(queries[i][d] - rows.value(r + j, d)));
            chains[i][j] = sum;
          }
        }
        settler.settle(
            chains, limits, [](std::uint32_t i) { return i; },
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
  settler.finish();
}

}  // namespace kith::cuda
