// Hands out the coordinates of a view as contiguous little-endian bytes, whatever its row stride.
#pragma once

#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include "runtime/output_file.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// Calls `sink` with the bytes of all rows, in order, in blocks of a few MiB. Reports `stage` in bytes; throws
/// Interrupted.
void for_each_block(PointView points, std::string_view stage, const ProgressCallback& progress,
                    const std::function<void(const void*, std::size_t)>& sink);

/// Throws UsageError unless every name can stand in a header: not empty, no blanks or control characters, none twice.
void require_plain_names(const std::vector<std::string>& names);

/// All rows as lines of blank-separated numbers, each the shortest text that reads back. Throws IoError, Interrupted.
void write_lines(runtime::OutputFile& file, PointView points, const ProgressCallback& progress);

/// `names`, or x, y, z for up to three dimensions, or c0, c1, … Throws UsageError if the number of names is not `dims`.
std::vector<std::string> column_names(const std::vector<std::string>& names, std::uint32_t dims);

}  // namespace kith::io::inline v0
