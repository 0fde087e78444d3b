// In which format a file is written, going by its name.
#pragma once

#include "io/text/text_writer.hpp"

#include <kith/io/format.hpp>

#include <string>

namespace kith::io::inline v0 {

/// `wanted`, or what the extension of the path says (".gz" is looked through); text for "-". Throws UsageError for a
/// format that is not written.
Format format_to_write(const std::string& path, Format wanted);

/// Commas, or what .tsv and .xyz have.
TextStyle text_style_of(const std::string& path);

}  // namespace kith::io::inline v0
