// Calls a builder of the k-d tree by its name.
#pragma once

#include "cuda/kd_tree/build/builders/builders.hpp"
#include "cuda/runtime/step_device.hpp"

#include <kith/error.hpp>

#include <string>

namespace kith::cuda {

// Each puts kernels into the device's stream. Throws OutOfMemory, DeviceError.
template <typename T>
ArrangedPoints<T> arrange_by_presort(StepDevice& device, const ArrangeTask<T>& task);
template <>
ArrangedPoints<float> arrange_by_presort(StepDevice& device, const ArrangeTask<float>& task);
template <>
ArrangedPoints<double> arrange_by_presort(StepDevice& device, const ArrangeTask<double>& task);

/// `select`, or `segsort` if it sorts.
template <typename T>
ArrangedPoints<T> arrange_by_levels(StepDevice& device, const ArrangeTask<T>& task, bool sorts);
template <>
ArrangedPoints<float> arrange_by_levels(StepDevice& device, const ArrangeTask<float>& task, bool sorts);
template <>
ArrangedPoints<double> arrange_by_levels(StepDevice& device, const ArrangeTask<double>& task, bool sorts);

template <typename T>
ArrangedPoints<T> arrange_points(Builder builder, StepDevice& device, const ArrangeTask<T>& task) {
  switch (builder) {
    case Builder::presort:
      return arrange_by_presort(device, task);
    case Builder::select:
    case Builder::segsort:
      return arrange_by_levels(device, task, builder == Builder::segsort);
    default:
      throw DeviceError("builder " + std::string(name_of(builder)) + ": not on a GPU; use `device=cpu`");
  }
}

}  // namespace kith::cuda
