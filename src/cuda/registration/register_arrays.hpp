// Registration of clouds in the memory of a GPU, or copied there.
#pragma once

#include "engine/device_registration.hpp"

#include <optional>

namespace kith::cuda {

/// Nothing if a cloud has NaN or infinity. Waits. Throws UsageError if an array is not where it says, OutOfMemory,
/// DeviceError.
std::optional<apps::Registration> register_arrays(const engine::RegistrationRequest& request);

}  // namespace kith::cuda
