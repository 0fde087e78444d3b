// Reads every column of a text file, its fields as they stand.
#pragma once

#include <kith/io/table.hpp>

#include "runtime/input_file.hpp"

namespace kith::io::inline v0 {

/// Fills `*options.table`. A column is of numbers if all its fields are; missing ones become NaN. Throws BadData if a
/// row has more or fewer fields than the first, CorruptFile if the file is no text.
void read_text_columns(const runtime::InputFile& file, const ReadOptions& options);

}  // namespace kith::io::inline v0
