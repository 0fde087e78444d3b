// Numbers of fixed size at regular places in a file: how they lie, and how they become points.
#pragma once

#include "io/records/record_type.hpp"

#include <kith/io/read_points.hpp>

#include "runtime/input_file.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// One column: where its values lie and what they mean.
struct RecordField {
  std::string name;  ///< empty if the file names nothing
  NumberType type = NumberType::f32;
  std::uint64_t offset = 0;  ///< bytes from the start of the data to the value of row 0
  std::uint64_t stride = 0;  ///< planes only: bytes between two rows; 0 if the values lie side by side
  std::uint8_t shift = 0;    ///< u8 only: the value is (byte >> shift) & mask
  std::uint8_t mask = 0xff;
  bool scaled = false;  ///< integers only: the value is number * scale + origin, in doubles
  double scale = 1;
  double origin = 0;
  /// u32 only: the values are positions in this list of texts, so they are labels and no coordinates.
  std::shared_ptr<const std::vector<std::string>> texts = {};
};

/// Whether a row's values lie side by side (records) or a column's values do (planes).
enum class RecordOrder : std::uint8_t { records, planes };

/// The whole of it.
struct RecordLayout {
  std::uint64_t rows = 0;
  std::uint64_t first_byte = 0;    ///< where the data starts in the file
  std::uint64_t record_bytes = 0;  ///< bytes of one row over all columns, gaps included
  RecordOrder order = RecordOrder::records;
  bool big_endian = false;
  bool named = false;  ///< whether the names of the fields mean something
  std::vector<RecordField> fields;
};

/// More columns than this are refused: a file that says so has its axes swapped or lies, and what describes the columns
/// would take more memory than an empty file backs.
inline constexpr std::uint64_t kMaxColumns = std::uint64_t{1} << 17;

/// Throws CorruptFile unless `rows` records of `record_bytes` each fit into the file from `first_byte` on. Call it
/// before memory is allocated for what a header promises.
void require_backed(const runtime::InputFile& file, std::uint64_t rows, std::uint64_t record_bytes,
                    std::uint64_t first_byte, std::string_view what);

/// Reads the chosen columns in parallel blocks, straight into place where types and layout agree. `defaults` names the
/// columns to take if `options` names none; empty means all. Throws CorruptFile if the file is too short.
PointFile read_records(const runtime::InputFile& file, const RecordLayout& layout, const ReadOptions& options,
                       Format format, std::span<const std::string> defaults = {});

}  // namespace kith::io::inline v0
