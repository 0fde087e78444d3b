// kith verify INDEX for indexes of bits, strings and sets.
#pragma once

#include "commands/verify_index.hpp"

#include <kith/index_file.hpp>

namespace kith::cli {

/// As `verify_index` for what has no coordinates.
int verify_objects(const IndexCheck& check, const IndexFileInfo& info);

}  // namespace kith::cli
