// The rows of a file of points to be classified: parsed into place, and what is wrong with one that cannot be.
#pragma once

#include "io/results/class_file_read.hpp"

#include <cstdint>
#include <string>

namespace kith::io::inline v0 {

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
