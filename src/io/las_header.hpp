// The public header of a LAS file and the fields of its point format.
#pragma once

#include "io/record_layout.hpp"

#include "runtime/input_file.hpp"

namespace kith::io {

/// Where the points lie and what their fields mean: x, y, z scaled to coordinates, and the attributes that the format
/// has. Throws CorruptFile if the header is damaged or the points are compressed (LAZ).
RecordLayout read_las_layout(const runtime::InputFile& file);

}  // namespace kith::io
