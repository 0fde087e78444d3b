// Which engine runs on which device, and why.
#pragma once

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/work_times.hpp>

#include <cstdint>
#include <string>

namespace kith::engine {

/// What a caller asks for, and for what.
struct EngineRequest {
  Engine engine = Engine::automatic;
  Device device = {};
  std::uint64_t points = 0;
  std::uint32_t dims = 0;
  std::uint64_t queries = 0;  ///< how many will come; 0 if unknown
  Device points_on = {};      ///< where the points are
  Metric metric = {};
  Builder builder = Builder::automatic;
  bool has_tree = false;  ///< a k-d tree of the points is there and need not be built
};

struct Choice {
  Engine engine;
  Device device;
  std::string reason;        ///< one line per decision, for people
  bool is_measured = false;  ///< a k-d tree that is to stay only if it prunes: see kd_tree/measured_pruning.hpp

  /// The CPU instead of the GPU that `automatic` took, because of `why`.
  void fall_back(const std::string& why);
  /// Another engine on the same device, because of `why`.
  void change_engine(Engine to, const std::string& why);
};

/// Throws DeviceError, which says why, unless there is such a GPU and the library holds code for it.
void require_gpu(Device device);

/// Only the engine, for a device that need not be there; the result's device means nothing. Throws UsageError for an
/// engine that is not built in or does not know the metric.
Choice engine_for(const EngineRequest& wanted);

/// Never `automatic` in the result. Throws UsageError for an engine that is not built in, DeviceError for a device that
/// was asked for and is not there.
Choice choose_engine(const EngineRequest& wanted);

/// Returns make(choice). Who leaves the choice of a device to us does not want to hear of a GPU that fails or refuses:
/// the CPU takes its place, and the times begin anew.
template <typename Make>
auto make_or_fall_back(Device wanted, Choice& choice, WorkTimes* times, const Make& make) {
  if (wanted.kind() != Device::Kind::automatic || choice.device == Device::cpu()) return make(choice);
  try {
    return make(choice);
  } catch (const DeviceError& error) {
    choice.fall_back(error.what());
  } catch (const OutOfMemory& error) {
    choice.fall_back(error.what());
  } catch (const UsageError& error) {
    choice.fall_back(error.what());
  }
  if (times != nullptr) *times = {};
  return make(choice);
}

}  // namespace kith::engine
