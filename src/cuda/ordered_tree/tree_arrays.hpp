// Exported trees for arrays of a caller, on a GPU or in host memory.
#pragma once

#include "cuda/runtime/build_phases.hpp"
#include "engine/device_trees.hpp"

namespace kith::cuda {

/// Waits until all is done. `phases` gets how long each step of the build took. Throws UsageError if an array is not on
/// the GPU of the points; otherwise as apps::export_node_table, and DeviceError.
apps::TreeOnDevice export_tree_arrays(const engine::TreeRequest& request, BuildPhases* phases = nullptr);

/// Whether a claimed tree is right.
bool is_right_tree_of_arrays(const engine::TreeCheckRequest& request, BuildPhases* phases = nullptr);

}  // namespace kith::cuda
