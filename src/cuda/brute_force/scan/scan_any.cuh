// A scan by any metric, on axes that may wrap: a warp per query, a lane per point, straight from global memory.
#pragma once

#include "cuda/queries/point_reduced.cuh"
#include "cuda/brute_force/scan/scan_part.cuh"
#include "cuda/brute_force/scan/resolve_pairs.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t kAnyWarps = 8;

template <typename T>
struct AnyStorage {
  ResolveStorage<T, kAnyWarps, kAnyWarps> resolve;
};

template <typename T>
__global__ void __launch_bounds__(kAnyWarps* kWarp) scan_any(const __grid_constant__ ScanTask<T> task) {
  auto& storage = *reinterpret_cast<AnyStorage<T>*>(shared_memory());
  const ScanPart part = scan_part(task, kAnyWarps);
  if (part.queries == 0) return;
  PairResolver<T> resolver(task, part, storage.resolve);
  const T limits[1] = {resolver.limit(warp_number())};
  if (warp_number() < part.queries) {
    const T* query =
        task.queries.rows + task.queries.row_of(part.first_query + warp_number()) * task.queries.row_stride;
    std::uint32_t tile = tile_at(task.order, part.first_tile);
    for (std::uint32_t i = part.first_tile; i < part.end_tile; ++i, tile = tile_after(task.order, tile)) {
      for (std::uint32_t position = lane_number(); position < kTilePoints; position += kWarp) {
        const std::uint64_t number = std::uint64_t{tile} * kTilePoints + position;
        const std::uint64_t existing = number < task.points.count ? number : task.points.count - 1;
        const T reduced[1][1] = {{reduced_to_point<core::EveryReduction>(
            task.metric, query, task.points.rows + existing * task.points.dims, task.points.dims, 1)}};
        resolver.resolve(
            reduced, limits, [](std::uint32_t) { return warp_number(); },
            [&] {
              return PointRun{number, (i - task.first_tile) * kTilePoints + position};
            });
      }
    }
  }
  resolver.finish();
}

}  // namespace kith::cuda
