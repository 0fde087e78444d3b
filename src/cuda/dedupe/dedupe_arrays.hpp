// Deduplication for arrays of a caller, on a GPU or in host memory.
#pragma once

#include "cuda/runtime/build_phases.hpp"
#include "engine/device_dedupe.hpp"

namespace kith::cuda {

/// Waits until all is done. `phases` gets how long each took, where equal points are removed. Throws UsageError if an
/// array is not on the GPU of the points; otherwise as apps::dedupe, and DeviceError.
apps::DedupedOnDevice dedupe_arrays(const engine::DedupeRequest& request, BuildPhases* phases = nullptr);

}  // namespace kith::cuda
