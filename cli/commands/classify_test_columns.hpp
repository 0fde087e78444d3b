// Which columns of a test file are those of the training file, and whether the truth is among them.
#pragma once

#include "commands/classify_flags.hpp"

#include <kith/io/read_points.hpp>
#include <kith/progress.hpp>

namespace kith::cli {

/// A test file, read so that its coordinates are those of the training file.
struct TestFile {
  io::PointFile content;
  io::ReadOptions read;     ///< how it was read
  bool has_target = false;  ///< the column of --label or --regress is there
};

/// Columns go together by name where both files have names, else by position; the column to be predicted may be
/// missing. Throws UsageError that names what does not fit; else as `io::read_points`.
TestFile read_test_file(const ClassifyFlags& flags, const io::PointFile& train, const ProgressCallback& progress);

}  // namespace kith::cli
