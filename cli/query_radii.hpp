// The file of --radius-file: how far each query looks.
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

}  // namespace kith::cli
