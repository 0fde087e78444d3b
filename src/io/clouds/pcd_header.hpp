// The header of a PCD file: its fields, its size and how the data is stored.
#pragma once

#include "io/records/record_type.hpp"

#include "runtime/input_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// One field; `count` values of `size` bytes each. Padding is called "_" and may have any size.
struct PcdField {
  std::string name;
  std::uint64_t size = 4;
  char type = 'F';
  std::uint64_t count = 1;

  bool is_padding() const { return name == "_"; }
  /// Not for padding.
  NumberType number_type() const;
};

enum class PcdEncoding : std::uint8_t { ascii, binary, binary_compressed };

struct PcdHeader {
  std::vector<PcdField> fields;
  std::uint64_t points = 0;
  std::uint64_t record_bytes = 0;  ///< of one point, padding included
  std::uint64_t values = 0;        ///< per point, padding included
  PcdEncoding encoding = PcdEncoding::ascii;
  std::uint64_t data_offset = 0;
  std::uint64_t lines = 0;  ///< of the header
  std::string viewpoint;    ///< what follows VIEWPOINT; empty if it is not said
};

/// Throws CorruptFile, which names the line, if the header is damaged or facts stored twice disagree.
PcdHeader read_pcd_header(const runtime::InputFile& file);

}  // namespace kith::io::inline v0
