// Labels and values by neighbours for a caller whose arrays lie on a GPU.
#pragma once

#include "engine/device_labels.hpp"

namespace kith::cuda {

/// Waits until all is done. Throws UsageError if an array is not on the GPU of the points, or for the first code that
/// is no class; BadData for the first value, point or query that is not finite; DeviceError, OutOfMemory.
apps::ClassifiedOnDevice label_arrays(const engine::LabelRequest& request);

}  // namespace kith::cuda
