// Reads a text file with a block size of the caller's choice, or every column of it.
#pragma once

#include "io/formats.hpp"
#include "runtime/input_file.hpp"

#include <kith/io/table.hpp>

#include <cstdint>

namespace kith::io::inline v0 {

/// What `read_text` does, in blocks of `block_bytes`. The result is the same for every block size; tests and fuzzers
/// use tiny ones.
PointFile read_text_in_blocks(const runtime::InputFile& file, const ReadOptions& options, std::uint64_t block_bytes);

/// Fills `*options.table`. A column is of numbers if all its fields are; missing ones become NaN. Throws BadData if a
/// row has more or fewer fields than the first, CorruptFile if the file is no text.
void read_text_columns(const runtime::InputFile& file, const ReadOptions& options);

}  // namespace kith::io::inline v0
