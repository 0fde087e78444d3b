// Builds the cover tree of any space on a GPU: the same bytes as on the CPU, by either builder.
#pragma once

#include "cuda/cover_tree/build/build_plan.hpp"
#include "cuda/cover_tree/build/build_types.hpp"
#include "cuda/cover_tree/device_cover_tree.hpp"
#include "cuda/runtime/build_phases.hpp"
#include "cuda/runtime/stream.hpp"

#include <cstdint>

namespace kith::cuda {

/// The tree of objects in rows side by side in the memory of the stream's device, which is the current one; they are
/// only read, and no longer than this call, which waits for the tree. `phases` gets how long each took. Throws
/// OutOfMemory, DeviceError. Instantiated for each space in a .cu file of its own (build_space.cuh).
template <DeviceSpace S>
DeviceCoverTree build_cover_tree(const S& space, const std::uint32_t* rows, std::uint32_t count,
                                 const CoverRules& rules, const Stream& stream, BuildPhases* phases = nullptr);

class StepDevice;  // cuda/runtime/step_device.hpp

namespace cover {

/// The part of a build that does not depend on the space.
DeviceCoverTree build_with(StepDevice& device, CoverMeasures& measures, PlainRows rows, std::uint32_t count,
                           const CoverRules& rules, const Stream& stream);

}  // namespace cover
}  // namespace kith::cuda
