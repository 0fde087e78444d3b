// QUERIES: the flags that read them otherwise than POINTS, and which of their columns belongs to which of the points'.
#pragma once

#include "command.hpp"
#include "output_flags.hpp"

#include <kith/io/read_points.hpp>
#include <kith/progress.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// What --query-columns, --query-label and --query-format say; everything else is read as POINTS are.
struct QueryFlags {
  std::vector<std::string> columns;
  std::optional<std::string> label;  ///< empty: none of them
  io::Format format = io::Format::automatic;

  bool any_given() const { return !columns.empty() || label || format != io::Format::automatic; }
};

/// The three flags.
FlagGroup query_flags(QueryFlags& flags);

/// Throws UsageError if flags of queries are given where there are none.
void require_queries_for(const QueryFlags& flags, const std::string& queries_path);

/// The points that the queries belong to.
struct PointColumns {
  std::string path;
  std::vector<std::string> names;  ///< one per dimension; empty if the file names none
};

/// Reads QUERIES with `options`, those of POINTS, as far as `flags` do not say otherwise. Columns belong together by
/// name if both files have names and the queries have all of those of the points, in any order and among others;
/// otherwise by position. A note says so where the two differ. `options` become those that the file was read with.
io::PointFile read_query_points(const std::string& path, const QueryFlags& flags, io::ReadOptions& options,
                                const PointColumns& points, const OutputFlags& output,
                                const ProgressCallback& progress);

}  // namespace kith::cli
