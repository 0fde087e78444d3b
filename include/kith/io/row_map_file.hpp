// Which row of a smaller set stands for each row of a larger one, as a file.
#pragma once

#include <kith/export.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace kith::io::inline v0 {

/// Writes what `apps::dedupe` found. `map` holds the place in `kept` per old row (0xffffffff for rows that were left
/// out), `kept` the old row of each place. The extension decides:
/// .npy: `map` alone (u32) · .npz: the arrays `map` and `kept` (u32) · .csv and .tsv: lines row, kept, kept_row (empty
/// where a row was left out); "-" is standard output, as CSV. Whole or not at all.
/// Throws UsageError for another extension, IoError, Interrupted.
KITH_EXPORT void write_row_map(const std::string& path, std::span<const std::uint32_t> map,
                               std::span<const std::uint32_t> kept, const ProgressCallback& progress = {});

}  // namespace kith::io::inline v0
