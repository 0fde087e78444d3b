// The readers of sequences, one for each format, over a file whose text is in memory.
#pragma once

#include "io/text/text_lines.hpp"
#include "runtime/input_file.hpp"

#include <kith/io/read_sequences.hpp>

#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// The text of a file, and where it came from.
struct SequenceText {
  std::string name;
  std::string_view text;
  SequenceKind kind = SequenceKind::text;
};

SequenceFile read_lines(const SequenceText& file);
SequenceFile read_fasta(const SequenceText& file);
SequenceFile read_phylip(const SequenceText& file);
SequenceFile read_sets(const SequenceText& file);
/// The column `options.text_column` of a table.
SequenceFile read_text_column(const runtime::InputFile& file, const SequenceReadOptions& options);

/// The format by extension or first line. Never `automatic` or `sets`.
SequenceFormat recognize_sequences(const SequenceText& file);

/// Adds a string. Throws BadData that names the line and the byte if it is no UTF-8. `line` is where it stands, and
/// `string` a part of it unless `line` holds several pieces put together.
void add_string(SequenceSet& sequences, const SequenceText& file, const TextLine& line, std::string_view string);

/// Throws BadData that names file and line.
[[noreturn]] void refuse_line(const SequenceText& file, std::uint64_t line, const std::string& what);

/// As `read_sequences` of a path.
SequenceFile read_sequences(const runtime::InputFile& file, const SequenceReadOptions& options);

}  // namespace kith::io::inline v0
