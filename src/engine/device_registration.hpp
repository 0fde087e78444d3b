// What a backend does to register clouds on one of its GPUs.
#pragma once

#include <kith/apps/registration.hpp>
#include <kith/point_view.hpp>

#include <optional>

namespace kith::engine {

/// The facade has checked shapes and options; both clouds have points.
struct RegistrationRequest {
  PointView source;  ///< in the memory of the device or of the host
  PointView target;
  apps::DeviceRegistrationOptions options = {};
  Device device = {};  ///< the GPU that works
};

/// Whether the kernels do what the options say; all else is the CPU's.
inline bool runs_on_gpu(const apps::RegistrationOptions& options) {
  constexpr std::uint32_t kMostIterations = 1 << 16;  // whose records are kept in the memory of the GPU
  if (options.keep < 1 || options.reciprocal || options.max_iterations > kMostIterations) return false;
  return options.voxels.empty() || (options.voxels.size() == 1 && options.voxels.front() == 0);
}

}  // namespace kith::engine
