// The header of a PLY file: its elements and their properties.
#pragma once

#include "io/records/record_type.hpp"

#include "runtime/input_file.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

struct PlyProperty {
  std::string name;
  NumberType type = NumberType::f32;
  bool is_list = false;
  NumberType count_type = NumberType::u8;  ///< lists only: the type of the count before the items
};

struct PlyElement {
  std::string name;
  std::uint64_t count = 0;
  std::vector<PlyProperty> properties;

  /// Bytes of the scalar properties plus the counts of the lists: what a record takes at least.
  std::uint64_t least_bytes() const;
  bool has_lists() const;
};

enum class PlyEncoding : std::uint8_t { ascii, little_endian, big_endian };

struct PlyHeader {
  PlyEncoding encoding = PlyEncoding::ascii;
  std::vector<PlyElement> elements;
  std::size_t vertex = 0;  ///< which element holds the points
  std::uint64_t data_offset = 0;
  std::uint64_t lines = 0;  ///< of the header
  std::vector<std::string> comments;
};

/// Throws CorruptFile, which names the line, if the header is damaged, has no end or no element "vertex".
PlyHeader read_ply_header(const runtime::InputFile& file);

}  // namespace kith::io::inline v0
