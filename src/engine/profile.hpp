// What the choice of an engine takes from the profile in use.
#pragma once

#include <kith/profile.hpp>

#include <cstdint>
#include <string>

namespace kith::engine {

/// Throws what reading the profile that KITH_PROFILE names has thrown.
void require_profile();

/// Takes the values that the profile in use has for this GPU, or else the built-in ones; none after `use_tuning`.
void take_gpu_values(const std::string& gpu);

/// The least `gpu_points` that any GPU of the profile has; for fewer points no GPU need be looked for. GPUs of other
/// machines count, too: the names of those that are here are known only once CUDA has started.
std::uint64_t fewest_gpu_points();

}  // namespace kith::engine
