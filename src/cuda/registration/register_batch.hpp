// Registration of many small pairs at once on a GPU.
#pragma once

#include "engine/device_registration.hpp"

#include <optional>
#include <vector>

namespace kith::cuda {

/// Nothing for pairs that have NaN or infinity, whose squares overflow, or that do not fit this GPU. Waits. Throws
/// UsageError if an array is not where it says, OutOfMemory, DeviceError.
std::vector<std::optional<apps::Registration>> register_batch(const engine::PairsRequest& request);

}  // namespace kith::cuda
