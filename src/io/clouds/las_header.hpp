// The public header of a LAS file, the records behind it and the fields of its points.
#pragma once

#include "io/records/record_layout.hpp"

#include <kith/io/table.hpp>

#include "runtime/input_file.hpp"

#include <string>
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

}  // namespace kith::io::inline v0
