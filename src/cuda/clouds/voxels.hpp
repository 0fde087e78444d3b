// One point per voxel, in device memory.
#pragma once

#include "cuda/clouds/voxel_types.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>
#include <optional>

namespace kith::cuda {

/// All but the cells of the task is set; points have 2 or 3 dims, and there is at least one. Waits for the number of
/// voxels; nothing as set_cells. `phases`, unless null, gets how long each step took. Throws OutOfMemory, DeviceError.
template <typename T>
std::optional<std::uint32_t> sample_voxels_on_device(VoxelTask<T> task, std::uint32_t dims, const Stream& stream,
                                                     BuildPhases* phases = nullptr);

}  // namespace kith::cuda
