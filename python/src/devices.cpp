// Version, devices, limits of memory, and how this extension was built.
#include "module.hpp"

#include <kith/device.hpp>
#include <kith/profile.hpp>
#include <kith/memory_limit.hpp>
#include <kith/version.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>

namespace kith::python {

namespace {

/// (path, note, values): what `profile` says, and the numbers in use.
nb::tuple facts_of(const ProfileInUse& profile) {
  nb::dict values;
  for (const TunedValue& value : tuned_values()) values[std::string(value.name).c_str()] = tuning().*value.member;
  return nb::make_tuple(profile.path, profile.note, values);
}
/// A limit that ends when it is told to, on the thread that began it.
struct OpenLimit {
  std::unique_ptr<MemoryLimit> limit;
};

}  // namespace

void bind_devices(nb::module_& module) {
  module.attr("__version__") = KITH_VERSION;
  module.def("built_with_cuda", &built_with_cuda, "Whether the CUDA backend was compiled in; a GPU may be missing.");
  module.def(
      "devices",
      [] {
        std::vector<DeviceInfo> infos;
        {
          const nb::gil_scoped_release released;
          infos = available_devices();
        }
        nb::list list;
        for (const DeviceInfo& info : infos) {
          list.append(
              nb::make_tuple(info.device.name(), info.name, info.memory_bytes, info.threads, info.instruction_set));
        }
        return list;
      },
      "A tuple (device, name, memory in bytes, threads, instruction set) for each.");
  module.def(
      "use_profile", [](const std::string& path) { return facts_of(use_profile(path)); },
      "Takes the values of a profile; a tuple (path, note, values).");
  module.def(
      "profile_in_use", [] { return facts_of(profile_in_use()); }, "The same of the profile in use.");
  nb::class_<OpenLimit>(module, "MemoryLimit")
      .def("__init__",
           [](OpenLimit* self, std::uint64_t bytes) { new (self) OpenLimit{std::make_unique<MemoryLimit>(bytes)}; })
      .def("end", [](OpenLimit& self) { self.limit.reset(); });
}

}  // namespace kith::python
