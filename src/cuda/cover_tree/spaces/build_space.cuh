// The builder for one space: included by the .cu file that instantiates build_cover_tree for it.
#pragma once

#include "cuda/cover_tree/build/build.hpp"
#include "cuda/runtime/step_device.hpp"
#include "cuda/cover_tree/spaces/space_measures.cuh"

namespace kith::cuda {

template <DeviceSpace S>
DeviceCoverTree build_cover_tree(const S& space, const std::uint32_t* rows, std::uint32_t count,
                                 const CoverRules& rules, const Stream& stream, BuildPhases* phases) {
  StepDevice device(stream, "building a cover tree", phases);
  cover::SpaceMeasures<S, StepDevice> measures(space, device);
  return cover::build_with(device, measures, {rows, space.stride()}, count, rules, stream);
}

}  // namespace kith::cuda
