// The header of a NumPy .npy file: what it says, parsed and written.
#pragma once

#include "io/records/record_layout.hpp"
#include "io/records/record_type.hpp"
#include "runtime/input_file.hpp"

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// An array as its header describes it.
struct NpyHeader {
  NumberType type = NumberType::f32;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::uint64_t data_offset = 0;  ///< from the start of the file, `begin` included
};

/// Parses the header of versions 1, 2 and 3 of an array that occupies [begin, begin + size) of the file. `what` names
/// it in messages. Throws CorruptFile; the shape is backed by the bytes that are there.
NpyHeader read_npy_header(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t size,
                          std::string_view what);

/// The array as rows x columns: 0-d is 1 x 1, 1-d is n x 1, 2-d is n x d. Throws BadData on more dimensions.
RecordLayout npy_layout(const NpyHeader& header, std::string_view what);
/// The same for rows that are points: throws BadData if they have no columns, too.
RecordLayout npy_points_layout(const NpyHeader& header, std::string_view what);

/// The bytes before the data, in version 1, little-endian, C order, padded so that the data starts at a multiple of 64.
/// `descr` is e.g. "<f4".
std::string npy_header_bytes(std::string_view descr, std::span<const std::uint64_t> shape);

/// "<f4" or "<f8".
std::string_view npy_descr(DType dtype);

/// The points of the array in [begin, begin + size) of the file; `what` names it in messages.
PointFile read_npy_points(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t size,
                          const std::string& what, const ReadOptions& options, Format format);

}  // namespace kith::io::inline v0
