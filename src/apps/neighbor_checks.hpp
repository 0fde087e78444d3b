// What must hold of labels, values and k before neighbours are searched for them.
#pragma once

#include <kith/apps/neighbor_options.hpp>

#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

/// Throws UsageError unless there is a code for each row, each of them below `classes`.
void require_labels(LabelView labels, std::uint64_t rows);
/// Throws UsageError unless there is a value for each row, BadData unless all of them are finite.
void require_values(std::span<const double> values, std::uint64_t rows);
/// Throws UsageError if k is 0 or above `most`, BadData if there are queries but no points.
void require_neighbors(std::uint32_t k, std::uint64_t most, std::uint64_t points, std::uint64_t queries);
/// Throws UsageError for weights that the metric does not know.
void require_weights(const NeighborOptions& options);

}  // namespace kith::apps::inline v0
