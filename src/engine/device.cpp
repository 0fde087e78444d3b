// Names of devices and the list of those that are there. See kith/device.hpp.
#include "engine/backend.hpp"

#include <kith/device.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <charconv>

namespace kith::inline v0 {

Device Device::parse(std::string_view text) {
  if (text == "auto") return automatic();
  if (text == "cpu") return cpu();
  if (text == "cuda") return cuda();
  constexpr std::string_view kPrefix = "cuda:";
  if (text.starts_with(kPrefix)) {
    const std::string_view number = text.substr(kPrefix.size());
    int ordinal = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (error == std::errc{} && end == number.data() + number.size() && ordinal >= 0) return cuda(ordinal);
  }
  throw UsageError(fmt::format("unknown device \"{}\"; choose auto, cpu, cuda or cuda:N", text));
}

std::string Device::name() const {
  switch (kind_) {
    case Kind::automatic:
      return "auto";
    case Kind::cpu:
      return "cpu";
    case Kind::cuda:
      break;
  }
  return fmt::format("cuda:{}", ordinal_);
}

std::vector<DeviceInfo> available_devices() {
  std::vector<DeviceInfo> devices = engine::cpu_backend().devices();
  if (const engine::Backend* cuda = engine::cuda_backend()) {
    for (DeviceInfo& info : cuda->devices()) devices.push_back(std::move(info));
  }
  return devices;
}

bool built_with_cuda() { return engine::cuda_backend() != nullptr; }

}  // namespace kith::inline v0
