// Files with 0 or 1 per row: --allow, which points a search may find, and --mask, which rows to take.
#pragma once

#include "output_flags.hpp"

#include <kith/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::cli {

/// One 0 or 1 per point, as bits: bit i % 64 of word i / 64 for point i. Throws BadData for other values and UsageError
/// if their number is not that of the points.
std::vector<std::uint64_t> read_row_mask(const std::string& flag, const std::string& path, std::uint64_t rows,
                                         const OutputFlags& output, const ProgressCallback& progress);
/// The same for --allow.
std::vector<std::uint64_t> read_allowed_points(const std::string& path, std::uint64_t points, const OutputFlags& output,
                                               const ProgressCallback& progress);

}  // namespace kith::cli
