// See engines.hpp.
#include "support/engines.hpp"

#include <kith/error.hpp>

namespace kith::test {

std::vector<EngineOnDevice> available_engines() {
  std::vector<EngineOnDevice> found;
  for (const DeviceInfo& info : available_devices()) {
    for (const Engine engine : {Engine::brute_force, Engine::kd_tree, Engine::cover_tree}) {
      try {
        Index::build(PointView(static_cast<const float*>(nullptr), 0, 3), {.engine = engine, .device = info.device});
        found.push_back({engine, info.device});
      } catch (const UsageError&) {  // that engine does not run there
      }
    }
  }
  return found;
}

bool knows_periods(const EngineOnDevice& where) {
  try {
    const float point[] = {0.5f};
    Index::build(PointView(point, 1, 1), {.engine = where.engine, .device = where.device, .period = {1.0}});
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace kith::test
