// The results of knn and radius as files: lists, lists with what they are about (--with), figures per query (--stats).
#pragma once

#include "neighbor_tables.hpp"
#include "search_flags.hpp"

#include <kith/neighbors.hpp>
#include <kith/progress.hpp>

#include <string>

namespace kith::cli {

/// --out, --with, --stats, --report, --json, --quiet and --explain.
FlagGroup neighbor_output_flags(SearchFlags& flags);

/// Throws UsageError for flags of the result that contradict each other; before anything is read.
void check_neighbor_output(const SearchFlags& flags);

/// Writes to `path` in the form that its extension and the flags ask for.
void write_result(const std::string& path, const SearchFlags& flags, const Neighbors& found,
                  const ResultColumns& columns, const ProgressCallback& progress);
void write_result(const std::string& path, const SearchFlags& flags, const NeighborLists& found,
                  const ResultColumns& columns, const ProgressCallback& progress);
/// Those of points with 64-bit numbers, as lists only.
void write_result(const std::string& path, const SearchFlags& flags, const WideNeighbors& found,
                  const ResultColumns& columns, const ProgressCallback& progress);
void write_result(const std::string& path, const SearchFlags& flags, const WideNeighborLists& found,
                  const ResultColumns& columns, const ProgressCallback& progress);

}  // namespace kith::cli
