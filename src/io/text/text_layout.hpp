// How a text file is laid out: what separates its fields, whether it has a header, where its rows begin.
#pragma once

#include <kith/io/read_points.hpp>

#include "runtime/input_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// Lines above this are refused, so that a file without line breaks cannot fill the memory.
inline constexpr std::size_t kLineLimit = std::size_t{64} << 20;
/// Rows with more fields than this are refused.
inline constexpr std::size_t kFieldLimit = std::size_t{1} << 20;

/// What the first lines of a file tell about all of them.
struct TextLayout {
  char delimiter = ' ';            ///< kBlankRun for runs of blanks and tabs
  char decimal = '.';              ///< '.' or ','
  std::uint64_t rows_begin = 0;    ///< byte where the line of the first row starts
  std::uint64_t first_line = 1;    ///< number of that line; the first of a file is 1
  std::uint64_t model_line = 1;    ///< number of the line that says how many fields there are
  bool has_header = false;         ///< that line is a header
  bool header_is_guessed = false;  ///< the caller did not say whether it is one
  std::uint64_t names_line = 0;    ///< number of the header, or of the comment that names the columns; 0: no names
  std::uint64_t comments = 0;      ///< lines with comments above the first row
  std::uint32_t fields = 0;        ///< per row
  std::vector<std::string> names;  ///< one per field, or empty
  /// Per field, a value where the first rows hold text and no number, else empty.
  std::vector<std::string> text_examples;
  /// The first of the first rows that has another number of fields.
  struct RaggedRow {
    std::uint64_t line = 0;
    std::uint64_t fields = 0;
  };
  std::optional<RaggedRow> ragged = {};
  /// The number of rows that a count in the first line promises (PTS and molecule files).
  std::optional<std::uint64_t> promised_rows = {};
  bool is_molecule = false;  ///< an XYZ file of atoms: element, x, y, z
};

/// Looks at the first rows. Throws BadData if there are none, CorruptFile if the file is not text, UsageError if the
/// options make no sense.
TextLayout find_layout(const runtime::InputFile& file, const ReadOptions& options);

/// What becomes of each field of a row.
struct ColumnPlan {
  static constexpr std::int32_t kSkip = -1;
  static constexpr std::int32_t kLabel = -2;
  std::vector<std::int32_t> target_of_field;  ///< a dimension, or one of the above
  std::uint32_t dims = 0;
  std::vector<std::string> names;  ///< one per dimension, or empty
  bool has_label = false;
};

/// Finds the columns that the options ask for. Throws UsageError if one is not there, BadData if a coordinate column
/// holds text or there are too many.
ColumnPlan plan_columns(const TextLayout& layout, const ReadOptions& options, const std::string& file_name);

/// The field of a column by name, else by position from 1, else "last". What is both the name of several columns and a
/// position is a position. Throws UsageError if there is no such column.
std::size_t find_column(const TextLayout& layout, const std::string& wanted, const std::string& file_name);

/// What is wrong with a row that has another number of fields: "2 fields, but line 1 has 3".
std::string ragged_message(const TextLayout& layout, std::uint64_t fields);

/// A field's column as a message names it: "column 3 (z)".
std::string column_name(const TextLayout& layout, std::uint64_t field);

}  // namespace kith::io::inline v0
