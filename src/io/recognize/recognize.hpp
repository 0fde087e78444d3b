// Tells what a file holds from its first bytes, then from its name.
#pragma once

#include <kith/io/format.hpp>

#include "runtime/input_file.hpp"

namespace kith::io::inline v0 {

/// The format to read `file` with. Throws CorruptFile that names the format if it is one that kith does not read, or if
/// content and extension disagree.
Format recognize(const runtime::InputFile& file);

}  // namespace kith::io::inline v0
