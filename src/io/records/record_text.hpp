// Records as lines of blank-separated numbers: the text forms of PLY and PCD.
#pragma once

#include "io/records/record_type.hpp"

#include <kith/io/read_points.hpp>

#include "runtime/input_file.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// One property of a line.
struct TextField {
  enum class Kind : std::uint8_t { number, list, padding };  // a list is a count and that many numbers
  std::string name;
  NumberType type = NumberType::f32;
  Kind kind = Kind::number;
};

/// Where the lines are and what stands in them. Blank lines do not count.
struct TextRecords {
  std::uint64_t rows = 0;
  std::uint64_t skipped_lines = 0;  ///< lines of other things before the first row
  std::uint64_t first_byte = 0;     ///< where the lines start
  std::uint64_t first_line = 1;     ///< the number of the line that starts there, for messages
  std::string_view what = "point";
  std::vector<TextField> fields;
};

/// Reads the chosen columns, in parallel blocks of lines. Throws CorruptFile if lines or values are missing, BadData if
/// a value is not a number.
PointFile read_text_records(const runtime::InputFile& file, const TextRecords& records, const ReadOptions& options,
                            Format format, std::span<const std::string> defaults);

}  // namespace kith::io::inline v0
