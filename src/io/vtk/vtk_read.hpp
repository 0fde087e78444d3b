// The two families of VTK files.
#pragma once

#include "io/records/record_source.hpp"

namespace kith::io::inline v0 {

RecordSource find_vtk_legacy(const runtime::InputFile& file, const ReadOptions& options);
RecordSource find_vtk_xml(const runtime::InputFile& file, const ReadOptions& options);

}  // namespace kith::io::inline v0
