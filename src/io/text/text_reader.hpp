// Reads a text file with a block size of the caller's choice.
#pragma once

#include "io/formats.hpp"

#include <cstdint>

namespace kith::io::inline v0 {

/// What `read_text` does, in blocks of `block_bytes`. The result is the same for every block size; tests and fuzzers
/// use tiny ones.
PointFile read_text_in_blocks(const runtime::InputFile& file, const ReadOptions& options, std::uint64_t block_bytes);

}  // namespace kith::io::inline v0
