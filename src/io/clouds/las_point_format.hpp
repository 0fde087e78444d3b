// The point formats of LAS: where x, y, z and each attribute lie in a record.
#pragma once

#include "io/records/record_layout.hpp"

#include <cstdint>

namespace kith::io::inline v0 {

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

}  // namespace kith::io::inline v0
