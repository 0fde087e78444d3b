// Reads a file of points to be classified from an open file, with a block size of the caller's choice.
#pragma once

#include <kith/io/class_file.hpp>

#include "runtime/input_file.hpp"

#include <cstdint>
#include <optional>

namespace kith::io::inline v0 {

/// What the first line says.
struct ClassCounts {
  std::uint64_t train = 0;
  std::uint64_t fresh = 0;
  std::uint32_t classes = 0;
  std::uint32_t dims = 0;
};

/// What `read_class_file` does, in blocks of `block_bytes`. The result and the first error are the same for every block
/// size; tests and fuzzers use tiny ones.
ClassFile read_class_file_in_blocks(const runtime::InputFile& file, std::optional<DType> dtype, int threads,
                                    const ProgressCallback& progress, std::uint64_t block_bytes);

}  // namespace kith::io::inline v0
