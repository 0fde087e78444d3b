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

/// Whether an engine knows a metric other than the inner product.
inline bool knows_metric(const EngineOnDevice& where, Metric metric) {
  return metric.kind() != Metric::Kind::lp || where.engine != Engine::cover_tree;
}

/// Whether there is an answer under a metric and it has the same bytes as anywhere: `pow` rounds as each device likes.
inline bool gives_same_bytes(const EngineOnDevice& where, Metric metric) {
  return knows_metric(where, metric) && (metric.kind() != Metric::Kind::lp || where.device.kind() == Device::Kind::cpu);
}

/// Whether an engine knows periodic axes.
bool knows_periods(const EngineOnDevice& where);

}  // namespace kith::test
