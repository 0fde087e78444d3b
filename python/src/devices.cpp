// Version, devices, and how this extension was built.
#include "module.hpp"

#include <kith/device.hpp>
#include <kith/version.hpp>

#include <nanobind/stl/string.h>

namespace kith::python {

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
}

}  // namespace kith::python
