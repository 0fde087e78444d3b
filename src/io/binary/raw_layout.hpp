// What a user says about a file of plain numbers: "f32 x,y,z,i", "be skip=80 f64 x,y; u16 label", "fortran f64 x,y,z".
#pragma once

#include "io/records/record_type.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// One value of a row, or some bytes of it that mean nothing (an empty name).
struct RawField {
  std::string name;
  NumberType type = NumberType::u8;
  std::uint64_t bytes = 0;
};

/// The whole of it.
struct RawLayout {
  bool big_endian = false;
  bool is_fortran = false;  ///< records with their length before and after, in 4 bytes
  bool is_arrays = false;   ///< all values of the first column, then all of the second, …
  bool is_named = false;
  std::uint64_t skip = 0;                     ///< bytes, or Fortran records, before the data
  std::optional<std::uint64_t> rows = {};     ///< take as many
  std::optional<std::uint64_t> records = {};  ///< Fortran: take as many records
  std::uint64_t row_bytes = 0;
  std::vector<RawField> fields;
};

/// Throws UsageError that quotes the word that is wrong.
RawLayout parse_raw_layout(std::string_view text);

}  // namespace kith::io::inline v0
