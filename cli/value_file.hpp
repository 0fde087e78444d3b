// Files with one number for each point or query: --allow, --radius-file.
#pragma once

#include "output_flags.hpp"

#include <kith/io/read_points.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <string>

namespace kith::cli {

/// What the numbers of a file are for, for messages.
struct ValueFile {
  std::string flag;  ///< "--allow"
  std::string path;
  std::uint64_t count = 0;  ///< how many there must be
  std::string of, of_many;  ///< "point", "points"
};

/// One column of `count` rows. Throws UsageError if there are more columns, or more or fewer rows, and as
/// io::read_points.
io::PointFile read_values(const ValueFile& file, const OutputFlags& output, const ProgressCallback& progress);

}  // namespace kith::cli
