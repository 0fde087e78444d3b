// Any text as a file.
#pragma once

#include <kith/export.hpp>

#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// Writes the text to a temporary file beside `path`, then renames it: the file appears whole or not at all. "-" is
/// standard output; devices and pipes are written in place. Throws IoError.
KITH_EXPORT void write_text(const std::string& path, std::string_view text);

}  // namespace kith::io::inline v0
