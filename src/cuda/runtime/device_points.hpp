// Points of a caller that lie in the memory of a GPU.
#pragma once

#include <kith/point_set.hpp>
#include <kith/point_view.hpp>

namespace kith::cuda {

/// Whether the memory belongs to that GPU (or is managed by CUDA). Throws DeviceError if there is no such GPU.
bool is_on_device(const void* memory, Device device);
/// Throws UsageError unless it does.
void require_on_device(const void* memory, Device device);

/// A copy in host memory, gaps between rows closed. The work that writes the points must have ended, or be in the
/// default stream. Throws as require_on_device, and OutOfMemory.
PointSet copy_points_to_host(PointView points, int threads);

}  // namespace kith::cuda
