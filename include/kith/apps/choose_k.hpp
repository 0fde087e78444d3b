// Which number of neighbours labels best: every k of a range tried on the points themselves, with one search.
#pragma once

#include <kith/apps/neighbor_options.hpp>
#include <kith/point_view.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

struct ChooseKOptions : NeighborOptions {  ///< `k` is not used
  std::uint32_t least = 1;
  std::uint32_t most = 50;
  /// 0: each point is labelled by all others (leave one out). F: the points are dealt into F parts, point i into part
  /// i mod F, and those of a part are labelled by the other parts.
  std::uint32_t folds = 0;
};

/// How well each k did.
struct KChoice {
  std::uint32_t least = 1;
  /// Per k, from `least` on. Labels: how many points were labelled right. Values: the root mean squared error.
  std::vector<std::uint64_t> right = {};
  std::vector<double> error = {};
  /// The k with the most right ones, or the least error; the lowest of several.
  std::uint32_t best = 0;
  NeighborWork work;
};

/// Exact for each k: what `classify` with that k gives point by point. Throws UsageError if the range is empty, starts
/// at 0 or asks for more neighbours than the other points (of the other parts) are, if folds is 1 or above the points;
/// else as `classify`.
KITH_EXPORT KChoice choose_k(PointView points, LabelView labels, const ChooseKOptions& options = {});
/// The same for `regress`.
KITH_EXPORT KChoice choose_k(PointView points, std::span<const double> values, const ChooseKOptions& options = {});

}  // namespace kith::apps::inline v0
