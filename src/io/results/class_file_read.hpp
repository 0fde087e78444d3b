// Files of points to be classified: the first line, the rows, and the whole file in blocks of the caller's choice.
#pragma once

#include "runtime/input_file.hpp"

#include <kith/io/class_file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

/// `line` without its line end. Throws BadData that names `file_name` and the column.
ClassCounts parse_class_counts(std::string_view line, const std::string& file_name);

/// Parses the row at `row`, the coordinates into `values`. `last` follows a line feed. Returns the comma before the
/// class, or null if a field is none or the row has too few or too many; then values may have been written. Whether
/// `label` is a class, or -1, is the caller's to check.
template <typename T>
const char* parse_class_row(const char* row, const char* last, std::uint32_t dims, T* values, std::int64_t& label);

/// What is wrong with a row, for a message: "line 7, column 3: ...". `index` is its number, 0 the one after the first
/// line. Empty if nothing is.
template <typename T>
std::string explain_class_row(const char* row, const char* last, std::uint64_t index, const ClassCounts& counts);

}  // namespace kith::io::inline v0
