// Writes strings and sets to text files that `read_sequences` reads.
#pragma once

#include <kith/io/read_sequences.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace kith::io::inline v0 {

/// Writes the sequences `rows` of a file: named ones (FASTA, PHYLIP) as FASTA, other strings as lines, sets as lines of
/// numbers. "-" is standard output; else whole or not at all. Throws IoError, UsageError for sequences of numbers.
KITH_EXPORT void write_sequences(const std::string& path, const SequenceFile& file,
                                 std::span<const std::uint32_t> rows);

}  // namespace kith::io::inline v0
