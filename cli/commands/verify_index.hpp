// kith verify INDEX: whether a file is the index of its points, and of these points.
#pragma once

#include "output_flags.hpp"
#include "sequence_flags.hpp"

#include <kith/device.hpp>
#include <kith/io/read_points.hpp>

#include <string>

namespace kith::cli {

struct IndexCheck {
  std::string index_path;
  std::string points_path;  ///< to compare with; empty: only the file itself is checked
  io::ReadOptions read;     ///< how to read the points
  Device device;            ///< where the contents are checked
  int threads = 0;
  OutputFlags output;
  SequenceFlags sequences;  ///< how to read strings and sets
};

/// Loads the index, which checks all of it, and compares coordinates row by row. Returns 0, or throws CorruptFile that
/// names the first violation, BadData that names the first row that differs.
int verify_index(const IndexCheck& check);

}  // namespace kith::cli
