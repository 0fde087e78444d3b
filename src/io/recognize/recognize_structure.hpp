// Recognises formats that kith reads and that have no magic word: molecules, simulations and VTK.
#pragma once

#include <kith/io/format.hpp>

#include "runtime/input_file.hpp"

#include <string_view>

namespace kith::io::inline v0 {

/// `automatic` if the first bytes are built like none of them.
Format format_of_structure(std::string_view head, const runtime::InputFile& file);

}  // namespace kith::io::inline v0
