// Reads strings and sets from text files: lines, FASTA, PHYLIP, sets of whole numbers.
#pragma once

#include <kith/progress.hpp>
#include <kith/sequence_set.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// `lines`: a string in each line. `fasta` and `phylip`: named sequences; PHYLIP sequential or interleaved, with names
/// of ten characters or ended by a blank. `sets`: whole numbers from 0 to 2^32 - 1 in each line, separated by blanks,
/// tabs or commas.
enum class SequenceFormat : std::uint8_t { automatic, lines, fasta, phylip, sets };

/// "auto", "lines", "fasta", "phylip" or "sets".
KITH_EXPORT std::string_view name_of(SequenceFormat format);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT SequenceFormat parse_sequence_format(std::string_view text);
/// What the extension of a path says (".gz" is looked through); `automatic` if it says nothing.
KITH_EXPORT SequenceFormat sequence_format_of_extension(std::string_view path);

/// How a file is read.
struct SequenceReadOptions {
  /// `automatic` goes by the extension, then by the first line: one that begins with ">" is FASTA, one of two numbers
  /// PHYLIP, anything else lines. It never finds sets.
  SequenceFormat format = SequenceFormat::automatic;
  /// What an item of a string is: a code point of UTF-8 (`text`) or a byte (`bytes`). Sets are sets.
  SequenceKind kind = SequenceKind::text;
  /// Not empty: the file is a table of text (CSV, TSV), and this column, by name or position from 1, holds the strings.
  std::string text_column = {};
  /// Of such a table: the character between fields, 0 finds out; whether the first row names the columns.
  char delimiter = 0;
  std::optional<bool> header = {};
  /// Above 0: each string becomes the set of its shingles of so many letters, see `shingles_of`.
  std::uint32_t shingle = 0;
  /// Each string becomes the set of its words, see `words_of`.
  bool words = false;
  ProgressCallback progress = {};
};

/// What a file held.
struct KITH_EXPORT SequenceFile {
  SequenceSet sequences;
  std::optional<SequenceSet> strings;  ///< those that sets of shingles or words were made of
  std::vector<std::string> names;      ///< one for each sequence of FASTA and PHYLIP; empty for the others
  SequenceFormat format = SequenceFormat::lines;
  std::vector<std::string> notes;  ///< what a person should know, e.g. that empty lines are empty strings

  SequenceView view() const { return sequences.view(); }
};

/// Reads the whole file, also if it is compressed by gzip; "-" is standard input. Lines end with LF or CR LF; a mark of
/// the byte order at the beginning is left out. Empty lines are empty strings or sets, but nothing follows the last
/// line end. Throws IoError if the file cannot be opened or read, CorruptFile if it is no text or of a kind that kith
/// does not read, BadData that names the line if it is not as its format wants it or no UTF-8, OutOfMemory,
/// Interrupted.
KITH_EXPORT SequenceFile read_sequences(const std::string& path, const SequenceReadOptions& options = {});

/// For the Jaccard distance of strings: the set of all `length` letters in a row of each string. A shorter string is
/// one shingle. A number of 32 bits stands for each shingle, the same on every machine; two different shingles have the
/// same number once in 4 billion pairs. Throws UsageError unless these are strings and `length` is at least 1.
KITH_EXPORT SequenceSet shingles_of(SequenceView strings, std::uint32_t length);

/// The same for words: what stands between blanks, tabs and line breaks.
KITH_EXPORT SequenceSet words_of(SequenceView strings);

}  // namespace kith::io::inline v0
