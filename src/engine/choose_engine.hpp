// Which engine runs on which device, and why.
#pragma once

#include <kith/index.hpp>

#include <cstdint>
#include <string>

namespace kith::engine {

/// What a caller asks for, and for what.
struct Wish {
  Engine engine = Engine::automatic;
  Device device = {};
  std::uint64_t points = 0;
  std::uint32_t dims = 0;
  std::uint64_t queries = 0;  ///< how many will come; 0 if unknown
  Device points_on = {};      ///< where the points are
  Metric metric = {};
  CoverBuilder builder = CoverBuilder::batch;
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

/// Never `automatic` in the result. Throws UsageError for an engine that is not built in, DeviceError for a device that
/// was asked for and is not there.
Choice choose_engine(const Wish& wish);

}  // namespace kith::engine
