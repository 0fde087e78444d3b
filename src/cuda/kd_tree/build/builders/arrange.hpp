// Calls a builder of the k-d tree by its name.
#pragma once

#include "cuda/kd_tree/build/builders/builders.hpp"
#include "cuda/runtime/step_device.hpp"

#include <kith/error.hpp>

#include <string>

namespace kith::cuda {

/// Puts kernels into the device's stream. Throws OutOfMemory, DeviceError.
template <typename T>
ArrangedPoints<T> arrange_points(Builder builder, StepDevice&, const ArrangeTask<T>&) {
  switch (builder) {
    default:
      throw DeviceError("builder " + std::string(name_of(builder)) + ": not on a GPU; use `device=cpu`");
  }
}

}  // namespace kith::cuda
