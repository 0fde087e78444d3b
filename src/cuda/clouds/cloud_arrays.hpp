// Jobs on clouds for arrays of a caller, on a GPU or in host memory.
#pragma once

#include "engine/device_clouds.hpp"

#include <cstdint>
#include <optional>

namespace kith::cuda {

/// As engine::Backend's functions. All wait until the arrays are written.
std::optional<std::uint64_t> normals_of_arrays(const engine::NormalsRequest& request);
bool move_arrays(const engine::MotionRequest& request);
std::optional<apps::SampledOnDevice> sample_voxels_of_arrays(const engine::VoxelRequest& request);
std::optional<apps::DirectedDistance> nearest_of_arrays(const engine::NearestRequest& request);
std::optional<apps::OutliersOnDevice> outliers_of_arrays(const engine::OutlierRequest& request);

}  // namespace kith::cuda
