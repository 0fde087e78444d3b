// Removes duplicates among points in the memory of a GPU. Nothing here includes a CUDA header.
#pragma once

#include <kith/apps/dedupe.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::apps::inline v0 {

/// As DedupeOptions. The scores are where the points are. `device` counts only for points in host memory, `want_map`
/// never: the map is written if there is an array for it.
struct DeviceDedupeOptions : DedupeOptions {
  /// A cudaStream_t of the GPU that holds the points; null is CUDA's default stream.
  void* stream = nullptr;
};

/// How many points are kept, and how many were left out because of NaN or infinity.
struct DedupedOnDevice {
  std::uint64_t kept = 0;
  std::uint64_t skipped = 0;
};

/// dedupe (kith/apps/dedupe.hpp) on the GPU that holds the points: the same rows are kept. `kept` and `map` are in its
/// memory, too, with an entry per point each; of `kept` the first ones get numbers. `map` may be null. The work begins
/// when that in the stream is done, and is done when the call returns.
///
/// Equal points never go through the host; of GPU memory that takes 28 bytes per point. With a tolerance, the points go
/// through the host, which decides by searches on the GPU.
///
/// Where all arrays are in host memory instead, they are copied to and from the GPU that `device` names.
///
/// Throws as dedupe; UsageError if an array is not there, or if rows on the GPU overlap or lie backwards; DeviceError.
KITH_EXPORT DedupedOnDevice dedupe_on_device(PointView points, std::uint32_t* kept, std::uint32_t* map,
                                             const DeviceDedupeOptions& options = {});

}  // namespace kith::apps::inline v0
