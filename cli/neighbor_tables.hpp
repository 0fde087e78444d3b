// Results as tables: a row per query with figures, or a row per pair with the columns of both.
#pragma once

#include "search_flags.hpp"

#include <kith/io/table.hpp>
#include <kith/neighbors.hpp>

namespace kith::cli {

struct ResultColumns {
  io::Table points;
  io::Table queries;  ///< empty: the points are the queries

  const io::Table& asked() const { return queries.columns.empty() ? points : queries; }
};

/// The columns of the queries, then nearest_distance, mean_distance (both NaN without neighbours), kth_distance (inf if
/// there are fewer than k; of lists: farthest_distance) and neighbors.
io::Table stats_table(const Neighbors& found, const io::Table& queries);
io::Table stats_table(const NeighborLists& found, const io::Table& queries);

/// query, rank, index, distance, then the columns that --with names: those of the query as query_…, those of the
/// neighbour as neighbor_…. Missing neighbours have no row. Throws UsageError if neither has such a column.
io::Table joined_table(const Neighbors& found, const ResultColumns& columns, const SearchFlags& flags);
io::Table joined_table(const NeighborLists& found, const ResultColumns& columns, const SearchFlags& flags);

}  // namespace kith::cli
