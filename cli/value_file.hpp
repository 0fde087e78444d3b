// Files with one number for each point or query: --allow, --mask, --radius-file.
#pragma once

#include "output_flags.hpp"

#include <kith/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// One radius per query. Throws BadData for one that is negative or NaN and UsageError if their number is not that of
/// the queries.
std::vector<double> read_query_radii(const std::string& path, std::uint64_t queries, const OutputFlags& output,
                                     const ProgressCallback& progress);

/// One 0 or 1 per point, as bits: bit i % 64 of word i / 64 for point i. Throws BadData for other values and UsageError
/// if their number is not that of the points. `flag` is the one that named the file, for messages.
std::vector<std::uint64_t> read_row_mask(const std::string& flag, const std::string& path, std::uint64_t rows,
                                         const OutputFlags& output, const ProgressCallback& progress);

}  // namespace kith::cli
