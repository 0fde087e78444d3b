// The facade of registration on a GPU: checks what can be checked without looking into the arrays, and calls the
// backend. What the kernels lack, and messages about points that cannot be used, are the CPU's.
#include "engine/device_registration.hpp"

#include "core/cloud/registration_plan.hpp"
#include "engine/backend.hpp"
#include "engine/choose_engine.hpp"
#include "engine/host_view.hpp"
#include "engine/validate.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::apps::inline v0 {
namespace {

Device device_of(PointView source, PointView target, const RegistrationOptions& options) {
  for (const PointView cloud : {source, target}) {
    if (cloud.device().kind() == Device::Kind::cuda) return cloud.device();
  }
  return options.device;
}

}  // namespace

Registration register_on_device(PointView source, PointView target, const DeviceRegistrationOptions& options) {
  core::check_clouds(source, target.dims(), target.dtype());
  core::check_registration(target.dims(), options);
  const Device device = device_of(source, target, options);
  if (device.kind() != Device::Kind::cuda) {
    throw UsageError("clouds in host memory: name the GPU to work on in the options (Device::cuda)");
  }
  for (const PointView cloud : {source, target}) {
    if (cloud.rows() > engine::kMostPoints) {
      throw UsageError(fmt::format("{} points, but at most {} can be numbered", cloud.rows(), engine::kMostPoints));
    }
    if (cloud.device().kind() == Device::Kind::cuda && cloud.row_stride() < static_cast<std::int64_t>(cloud.dims())) {
      throw UsageError("points on a GPU whose rows overlap or lie backwards; copy them first");
    }
  }
  engine::require_gpu(device);
  if (core::wants_global_start(options)) {  // found on the CPU, from there on the GPU
    engine::cuda_backend()->wait_for(device, options.stream);
    const engine::HostView source_here(source, options.threads);
    const engine::HostView target_here(target, options.threads);
    const GlobalStart start = global_start(source_here.view(), target_here.view(), options);
    DeviceRegistrationOptions begun = options;
    core::begin_at(start, begun);
    Registration result = register_on_device(source, target, begun);
    result.global = start;
    return result;
  }
  if (engine::runs_on_gpu(options) && !source.empty() && !target.empty()) {
    const std::optional<Registration> found =
        engine::cuda_backend()->register_clouds({source, target, options, device});
    if (found) return *found;
  }
  engine::cuda_backend()->wait_for(device, options.stream);
  const engine::HostView source_here(source, options.threads);
  const engine::HostView target_here(target, options.threads);
  RegistrationOptions on_cpu = options;
  on_cpu.device = Device::cpu();
  return register_clouds(source_here.view(), target_here.view(), on_cpu);
}

}  // namespace kith::apps::inline v0
