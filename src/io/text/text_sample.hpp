// The first rows of a text file, for finding out how it is laid out.
#pragma once

#include "runtime/input_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// One line without its line break, and where it stands.
struct SampleLine {
  std::string text;
  std::uint64_t offset = 0;          ///< byte where it starts
  std::uint64_t number = 0;          ///< the first line of the file is 1
  std::uint64_t comments_above = 0;  ///< comments in all lines above it
  std::string line_break = "\n";     ///< "\n" or "\r\n"
};

/// Rows are lines that are neither blank nor comments. Lines with a marker and text right behind it (LineKind::marked)
/// are left out: above the rows they are comments, and below they do not tell how the file is laid out. Only the error
/// values of spreadsheets always begin a row.
struct TextSample {
  std::vector<SampleLine> rows;
  /// The comment just above the first row, without its marker; empty if there is none.
  std::string comment_above;
  std::uint64_t comment_line = 0;  ///< its number
  std::uint64_t comments = 0;      ///< in all lines that were read
};

/// Reads a few rows, or up to the end of the file if there are fewer. Skips a UTF-8 byte order mark. Throws CorruptFile
/// on UTF-16 and on a NUL byte before or in the first row, BadData on a line above the limit.
TextSample sample_rows(const runtime::InputFile& file);

/// What to say about a NUL byte at an offset.
std::string nul_byte_message(const runtime::InputFile& file, std::uint64_t offset);

struct TextMarks {
  char delimiter = ',';  ///< kBlankRun for runs of blanks and tabs
  char decimal = '.';    ///< '.' or ','
};

/// What the first rows tell. A mark that is given (not 0) is kept. A delimiter that cuts all rows into equally many
/// fields is right; a comma that stands inside of numbers which tabs or blanks separate is a decimal comma. Throws
/// BadData if both readings make as much sense.
TextMarks find_marks(std::span<const SampleLine> rows, TextMarks given, const std::string& file_name);

enum class HeaderRow : std::uint8_t { no, yes, in_doubt };

/// Compares the first row with the columns below it: a header has names where most of the columns hold numbers. One
/// number that is misspelt ("1.2.3", "****", "n.a.") makes no header, and so no row is lost.
HeaderRow find_header_row(std::span<const std::vector<std::string>> rows);

}  // namespace kith::io::inline v0
