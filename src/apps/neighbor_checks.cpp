// See neighbor_checks.hpp.
#include "apps/neighbor_checks.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::apps::inline v0 {

void require_labels(LabelView labels, std::uint64_t rows) {
  if (labels.codes.size() != rows) {
    throw UsageError(fmt::format("labels: {} for {} points; give one for each", labels.codes.size(), rows));
  }
  const auto bad = std::find_if(labels.codes.begin(), labels.codes.end(),
                                [&](std::uint32_t code) { return code >= labels.classes; });
  if (bad == labels.codes.end()) return;
  throw UsageError(fmt::format("labels: that of point {} (counted from 0) is {}, but with {} classes it must be below",
                               bad - labels.codes.begin(), *bad, labels.classes));
}

void require_values(std::span<const double> values, std::uint64_t rows) {
  if (values.size() != rows) {
    throw UsageError(fmt::format("values: {} for {} points; give one for each", values.size(), rows));
  }
  const auto bad = std::find_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  throw BadData(fmt::format("values: that of point {} (counted from 0) is {}; remove such points", bad - values.begin(),
                            std::isnan(*bad) ? "NaN" : "infinity"));
}

void require_neighbors(std::uint32_t k, std::uint64_t most, std::uint64_t points, std::uint64_t queries) {
  if (k == 0) throw UsageError("k must be at least 1, not 0");
  if (points == 0 && queries > 0) {
    throw BadData(fmt::format("{} queries, but no points that could be their neighbours; give at least one", queries));
  }
  if (k > most)
    throw UsageError(fmt::format("k is {}, but there are at most {} neighbours; choose a lower k", k, most));
}

void require_weights(const NeighborOptions& options) {
  if (options.weights == Weights::distance && !options.metric.info().has_distances) {
    throw UsageError(fmt::format(
        "weights by distance: not for the metric {}, which has none; choose uniform weights or another metric",
        options.metric.name()));
  }
}

}  // namespace kith::apps::inline v0
