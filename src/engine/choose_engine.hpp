// Which engine runs on which device, and why.
#pragma once

#include <kith/index.hpp>

#include <string>

namespace kith::engine {

struct Choice {
  Engine engine;
  Device device;
  std::string reason;  ///< one line per decision, for people
};

/// Never `automatic` in the result. Throws UsageError for an engine that is not built in, DeviceError for a device that
/// is not there.
/// `queries` is how many will come; 0 if unknown.
Choice choose_engine(Engine wanted, Device device, std::uint64_t points, std::uint32_t dims, std::uint64_t queries);

}  // namespace kith::engine
