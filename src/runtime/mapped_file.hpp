// A file as memory: pages are read when they are touched.
#pragma once

#include "runtime/regular_file.hpp"

#include <cstddef>
#include <memory>

namespace kith::runtime {

/// Maps all of a file that is not empty, read only, until the last copy of the pointer is gone. A file that shrinks
/// while it is mapped ends the process with a signal, so this is for files that no one else changes. Throws IoError.
std::shared_ptr<const std::byte> map_file(const RegularFile& file);

}  // namespace kith::runtime
