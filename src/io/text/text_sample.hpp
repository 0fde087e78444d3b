// The first rows of a text file, for finding out how it is laid out.
#pragma once

#include "runtime/input_file.hpp"

#include <cstdint>
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

}  // namespace kith::io::inline v0
