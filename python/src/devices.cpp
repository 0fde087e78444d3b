// Version, devices, limits of memory, and how this extension was built.
#include "module.hpp"

#include <kith/device.hpp>
#include <kith/memory_limit.hpp>
#include <kith/profile.hpp>
#include <kith/version.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace kith::python {

namespace {

/// (path, note, values): what `profile` says, and the numbers in use.
nb::tuple facts_of(const ProfileInUse& profile) {
  nb::dict values;
  for (const TunedValue& value : tuned_values()) values[std::string(value.name).c_str()] = tuning().*value.member;
  return nb::make_tuple(profile.path, profile.note, values);
}

/// A limit until `end`, which is for the thread that began it.
class OpenLimit {
 public:
  explicit OpenLimit(std::uint64_t bytes) : limit_(std::make_unique<MemoryLimit>(bytes)) {}
  OpenLimit(const OpenLimit&) = delete;
  OpenLimit& operator=(const OpenLimit&) = delete;
  ~OpenLimit() {
    if (!is_on_its_thread()) static_cast<void>(limit_.release());  // its own thread still refers to it
  }

  void end() {
    if (limit_ != nullptr && !is_on_its_thread()) {
      throw std::runtime_error("memory_limit: a limit ends on the thread on which it began; it still applies there");
    }
    limit_.reset();
  }

 private:
  bool is_on_its_thread() const { return std::this_thread::get_id() == thread_; }

  std::thread::id thread_ = std::this_thread::get_id();
  std::unique_ptr<MemoryLimit> limit_;
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
  nb::class_<OpenLimit>(module, "MemoryLimit").def(nb::init<std::uint64_t>()).def("end", &OpenLimit::end);
}

}  // namespace kith::python
