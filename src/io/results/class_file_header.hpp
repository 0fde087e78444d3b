// The first line of a file of points to be classified: "N,M,C,D".
#pragma once

#include "io/results/class_file_read.hpp"

#include <string>
#include <string_view>

namespace kith::io::inline v0 {

/// `line` without its line end. Throws BadData that names `file_name` and the column.
ClassCounts parse_class_counts(std::string_view line, const std::string& file_name);

}  // namespace kith::io::inline v0
