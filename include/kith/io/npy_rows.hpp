// Some rows of a .npy file, read without the others: for processes that share a file.
#pragma once

#include <kith/export.hpp>
#include <kith/io/read_points.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace kith::io::inline v0 {

/// How many rows of points a .npy file has. Nothing for a file that is no .npy by its first bytes, such as one that is
/// compressed, or that cannot be read. Throws IoError, CorruptFile, and BadData for arrays that are no points.
KITH_EXPORT std::optional<std::uint64_t> count_npy_rows(const std::string& path);

/// The rows [first, first + count) of a .npy file as `read_points` reads them all; only their bytes are read. Throws as
/// it does, UsageError if there are not so many rows.
KITH_EXPORT PointFile read_npy_rows(const std::string& path, std::uint64_t first, std::uint64_t count,
                                    const ReadOptions& options = {});

}  // namespace kith::io::inline v0
