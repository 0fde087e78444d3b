// The values of one DataArray of a VTK XML file: text, base64, or appended bytes, compressed by zlib or not.
#pragma once

#include "io/records/record_type.hpp"
#include "runtime/input_file.hpp"
#include "runtime/progress_meter.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// A byte that zlib wrote stands for as many at most.
inline constexpr std::uint64_t kMostDeflateRatio = 1032;

/// How the file as a whole stores bytes.
struct VtkEncoding {
  bool big_endian = false;
  bool wide_header = false;  ///< lengths have 8 bytes, not 4
  bool is_compressed = false;
};

/// Appends values written as text, in the byte order of the file. These three report the bytes in `out` to `meter`.
void append_vtk_text(std::string_view text, NumberType type, std::uint64_t values, const VtkEncoding& encoding,
                     const std::string& where, runtime::ProgressMeter& meter, std::vector<char>& out);
/// Appends the `bytes` bytes of an array that are stored, with the lengths in front, as base64.
void append_vtk_base64(std::string_view text, std::uint64_t bytes, const VtkEncoding& encoding,
                       const std::string& where, runtime::ProgressMeter& meter, std::vector<char>& out);
/// The same for bytes as they lie in the file from `offset` on.
void append_vtk_raw(const runtime::InputFile& file, std::uint64_t offset, std::uint64_t bytes,
                    const VtkEncoding& encoding, const std::string& where, runtime::ProgressMeter& meter,
                    std::vector<char>& out);

}  // namespace kith::io::inline v0
