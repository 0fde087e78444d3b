// How labels and values are made of neighbours: what classify, regress and choose_k share.
#pragma once

#include <kith/device.hpp>
#include <kith/index.hpp>
#include <kith/metric.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kith::apps::inline v0 {

/// How much a neighbour counts. `uniform`: each the same. `distance`: the distance of the nearest one divided by its
/// own, so 1 for the nearest; if that is 0, only those at distance 0 count.
enum class Weights : std::uint8_t { uniform, distance };

/// "uniform" or "distance".
KITH_EXPORT std::string_view name_of(Weights weights);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT Weights parse_weights(std::string_view text);

/// Which of several labels with the same, largest weight wins. `nearest`: the one whose nearest member comes first in
/// the list of neighbours. `lowest`, `highest`: the one with the lowest or the highest code.
enum class Ties : std::uint8_t { nearest, lowest, highest };

/// "nearest", "lowest" or "highest".
KITH_EXPORT std::string_view name_of(Ties ties);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT Ties parse_ties(std::string_view text);

/// Which neighbours count, how much, and how they are found. The answer depends on `k`, `weights`, `ties` and `metric`
/// only.
struct NeighborOptions {
  std::uint32_t k = 5;
  /// `distance` is not for inner products, which are not distances: UsageError.
  Weights weights = Weights::uniform;
  Ties ties = Ties::nearest;  ///< labels only
  Metric metric = Metric::l2();
  std::vector<double> metric_params = {};  ///< as in BuildOptions
  Engine engine = Engine::automatic;
  Device device = Device::automatic();
  /// Threads on the CPU; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
};

/// A class per row, as a number below `classes`. Not owned.
struct LabelView {
  std::span<const std::uint32_t> codes = {};
  std::uint32_t classes = 0;
};

/// How neighbours were found, and how long that took.
struct NeighborWork {
  Engine engine = Engine::brute_force;
  Device device;
  std::string explanation;  ///< why this engine and device, in a few lines for people
  double build_ms = 0;
  double search_ms = 0;
  double vote_ms = 0;
};

}  // namespace kith::apps::inline v0
