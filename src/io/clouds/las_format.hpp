// LAS files: the public header, the point formats, extra bytes and the scales of coordinates.
#pragma once

#include "io/records/record_layout.hpp"
#include "runtime/input_file.hpp"

#include <kith/io/table.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::io::inline v0 {

/// What stands before the points.
struct LasFile {
  RecordLayout layout;  ///< x, y, z scaled to coordinates, the attributes of the point format, the extra bytes
  LasHeader header;
  std::vector<std::string> notes;  ///< what the file has and the layout has not
};

/// Throws CorruptFile if the header is damaged or the points are compressed (LAZ).
LasFile read_las_header(const runtime::InputFile& file);

inline constexpr int kLasFormats = 11;

/// The bytes of a record of point format 0 to 10 without extra bytes.
std::uint64_t las_record_bytes(int format);
/// The fields of a record of this format; x, y and z are scaled, with scale and origin still to be set.
RecordLayout las_point_layout(int format);
/// Whether records of this format have the time, colour or near infrared.
bool las_has_time(int format);
bool las_has_color(int format);
bool las_has_infrared(int format);
/// Whether records of this format refer to wave packets, which are not read.
bool las_has_waves(int format);

/// Adds the fields that the body of an "extra bytes" record describes. They start at `offset` in a record of the
/// points; fields that would end behind `record_bytes` and undocumented bytes are left out.
void add_extra_bytes(RecordLayout& layout, std::string_view description, std::uint64_t offset);

/// The description of one field, which is neither scaled nor part of a byte. Its name is cut after 32 bytes.
std::string describe_extra_bytes(const RecordField& field);

/// The length of a name that a description holds.
inline constexpr std::size_t kLasNameBytes = 32;

struct LasScale {
  double scale = 1;
  double offset = 0;
  double error = 0;  ///< how far a coordinate moves at most; 0 if all come back as they were
};

/// The given scale and offset, with the error that they give; a negative error if a coordinate does not fit.
LasScale measure_scale(std::span<const double> values, double scale, double offset);

/// A power of ten that gives every coordinate back, or the finest that fits. Values must be finite.
LasScale choose_scale(std::span<const double> values);

}  // namespace kith::io::inline v0
