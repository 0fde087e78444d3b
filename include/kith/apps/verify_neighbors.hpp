// Checks the result of a search against the plain definition, one pair at a time.
#pragma once

#include <kith/index.hpp>
#include <kith/metric.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace kith::apps::inline v0 {

struct VerifyOptions {
  Metric metric = Metric::l2();
  std::vector<double> metric_params = {};  ///< as in BuildOptions
  bool squared = false;
  bool exclude_self = false;        ///< the queries are the points, and none is its own neighbour
  bool skip_nonfinite = false;      ///< points and queries with NaN or infinity were left out
  std::uint32_t max_neighbors = 0;  ///< the cap of a radius search; 0 for none
  /// kNN: neighbours farther than this are missing.
  double max_distance = std::numeric_limits<double>::infinity();
  /// kNN: each distance may be up to 1 + eps times the true one, infinity for any; answers that `Neighbors::exact`
  /// certifies must still be exact.
  double eps = 0;
  /// Only points whose bit is set could be found: bit i % 64 of word i / 64 for point i; empty: all.
  std::span<const std::uint64_t> allowed = {};
  bool earlier_only = false;  ///< the queries are the points, and each found only points numbered below it
  /// The length of each periodic axis, 0 for one that does not wrap; empty: none does. Points and queries are wrapped.
  std::vector<double> period = {};
  std::uint64_t sample = 0;  ///< check that many queries, chosen by `seed`; 0 checks all
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0 means all cores
  ProgressCallback progress = {};
};

struct Verdict {
  std::uint64_t checked = 0;    ///< queries looked at
  std::uint64_t wrong = 0;      ///< queries whose list differs in any byte
  std::string first_violation;  ///< says query, rank, what stands there and what should; empty if all is right
};

/// Checks k nearest neighbours. `queries` may be the points themselves. Throws UsageError if the sizes do not match.
KITH_EXPORT Verdict verify_neighbors(const Neighbors& found, PointView points, PointView queries,
                                     const VerifyOptions& options = {});

/// Checks a radius search.
KITH_EXPORT Verdict verify_neighbors(const NeighborLists& found, const Radii& radii, PointView points,
                                     PointView queries, const VerifyOptions& options = {});

}  // namespace kith::apps::inline v0
