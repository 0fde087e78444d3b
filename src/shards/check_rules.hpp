// Checks of what a caller hands in: the rules of a cut, and the options and arrays of a search.
#pragma once

#include "core/metric/row_map.hpp"

#include <kith/index.hpp>
#include <kith/shards/search.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kith::shards {

inline constexpr std::uint32_t kMostShards = 4096;
/// So that products with the number of shards fit 64 bits.
inline constexpr std::uint64_t kMostRows = std::uint64_t{1} << 50;

/// Throws UsageError.
void require_rules(const CutRules& rules);

enum class SearchKind : std::uint8_t { knn, radius, box };

/// Throws UsageError for options that are out of range or contradict the metric or the kind of search; `rows` are those
/// of the queries.
void require_options(const ShardMap& map, const ShardSearchOptions& options, SearchKind kind, bool is_self,
                     std::uint64_t rows);
/// For a view of queries, or of corners of boxes, that does not fit the points.
void require_view(const ShardMap& map, PointView view, std::string_view what);
/// For a radius that is negative or NaN, or a wrong number of them.
void require_radii(const Radii& radii, std::uint64_t queries);
/// Where rows are not searched as they are, and on periodic axes.
void require_boxes_possible(const ShardMap& map);

/// A flag for each row that `map` does not take; empty if it takes all. Throws BadRow for the first unless `skip`.
std::vector<std::uint8_t> bad_rows(PointView queries, const core::RowMap& map, bool skip, int threads);
/// A flag for each box with NaN; empty if there is none. Throws BadData unless `skip`.
std::vector<std::uint8_t> bad_boxes(PointView lower, PointView upper, bool skip);

}  // namespace kith::shards
