// Rows formatted by all threads and written in their order.
#pragma once

#include "runtime/output_file.hpp"

#include <kith/progress.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace kith::io::inline v0 {

/// Calls `format(begin, end, to)`, which appends the rows [begin, end) to `to`, for runs of rows on all threads, and
/// writes what comes of it. `row_bytes` is about how long a row is. Throws what `format` throws, IoError, Interrupted.
void write_rows_as_text(runtime::OutputFile& file, std::uint64_t rows, std::uint64_t row_bytes,
                        const ProgressCallback& progress,
                        const std::function<void(std::uint64_t begin, std::uint64_t end, std::string& to)>& format);

}  // namespace kith::io::inline v0
