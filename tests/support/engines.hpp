// Every engine on every device that is there, for parameterised tests.
#pragma once

#include <kith/device.hpp>
#include <kith/index.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace kith::test {

struct EngineOnDevice {
  Engine engine;
  Device device;

  friend std::ostream& operator<<(std::ostream& out, const EngineOnDevice& e) {
    return out << name_of(e.engine) << " on " << e.device.name();
  }
};

/// Asks the library by building an empty index of each.
std::vector<EngineOnDevice> available_engines();

/// Whether an engine has a metric.
inline bool knows_metric(const EngineOnDevice& where, Metric metric) {
  return where.engine == Engine::kd_tree      ? metric.info().has_kd_tree
         : where.engine == Engine::cover_tree ? metric.info().has_cover_tree
                                              : true;
}

/// Whether an engine knows periodic axes.
bool knows_periods(const EngineOnDevice& where);

}  // namespace kith::test
