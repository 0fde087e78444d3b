// Reads points, and labels where asked, from any file that kith knows.
#pragma once

#include <kith/io/format.hpp>
#include <kith/point_set.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

struct Table;  // kith/io/table.hpp

/// How a file is read. Columns are named as in its header, or by position: "1" is the first, "last" the last.
struct ReadOptions {
  /// `automatic` recognises the format by content first, then by extension.
  Format format = Format::automatic;
  /// Convert to this type; without it the file's own (text, LAS and 32/64-bit integers: f64; smaller integers: f32).
  std::optional<DType> dtype = {};
  /// Take only these columns, in this order. Empty: x, y, z where the format names its columns (PLY, PCD,
  /// LAS, molecules, VTK), all columns of the others.
  std::vector<std::string> columns = {};
  /// The column that holds a label per row (text allowed) instead of a coordinate. Empty: none.
  std::string label = {};
  /// Columns to read beside the coordinates (scores, colours), in this order, into `PointFile::extras`. They are no
  /// coordinates unless `columns` names them too.
  std::vector<std::string> extras = {};
  /// Text only: the character between fields; 0 finds out.
  char delimiter = 0;
  /// Text only: what stands before the decimals of a number, '.' or ','; 0 finds out.
  char decimal = 0;
  /// Text only: whether the first row names the columns; unset finds out.
  std::optional<bool> header = {};
  /// Missing and out-of-range values become NaN or infinity instead of BadData.
  bool missing_as_nan = false;
  /// NPZ only: which array; empty takes the only one, or the one called "points".
  std::string array = {};
  /// If not null, receives every column of the file with its own type, whatever the other options choose. Stays empty
  /// if the points hold all that there is.
  Table* table = nullptr;
  /// False if only the table is wanted; `PointFile::points` is then empty.
  bool want_points = true;
  /// Plain numbers and Fortran records: what lies in the file, e.g. "f32 x,y,z,i", "be skip=80 f64 x,y; u16 label" or
  /// "fortran f64 x,y,z"; `format` is then `raw` or `automatic`.
  std::string layout = {};
  /// Threads; 0 means all cores.
  int threads = 0;
  ProgressCallback progress = {};
};

/// A label per row, as a number and as the text that stood in the file.
struct Labels {
  std::vector<std::uint32_t> codes;  ///< per row, an index into `names`
  std::vector<std::string> names;    ///< in order of first appearance
};

/// How the lines of a text file were understood. The first line of a file is 1.
struct TextReading {
  std::optional<std::uint64_t> header_line;  ///< the row that was taken as header
  std::optional<std::uint64_t> names_line;   ///< the same, or the comment that names the columns
  std::uint64_t comment_lines = 0;
  char delimiter = ',';  ///< a blank stands for any run of blanks and tabs
  char decimal = '.';    ///< before the decimals of numbers: '.' or ','
};

/// What a file held.
struct KITH_EXPORT PointFile {
  PointSet points;
  std::vector<std::string> columns;        ///< one name per dimension; empty if the file names none
  std::optional<Labels> labels;            ///< if a label column was asked for
  PointSet extras;                         ///< rows x the extra columns that were asked for, in their own type
  std::vector<std::string> extra_columns;  ///< one name per extra column; empty if the file names none
  Format format = Format::text;
  std::optional<TextReading> text;  ///< of a text file
  std::vector<std::string> notes;   ///< what a person should know, e.g. a conversion that loses digits

  PointView view() const { return points.view(); }
};

/// Reads the whole file; "-" is standard input. Throws IoError if it cannot be opened or read, CorruptFile if it is
/// damaged or of a kind that kith does not read, BadData if a value is missing or no number, UsageError if a column
/// that was asked for is not there. NaN and infinity that the file itself holds are kept.
KITH_EXPORT PointFile read_points(const std::string& path, const ReadOptions& options = {});

}  // namespace kith::io::inline v0
