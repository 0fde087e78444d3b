// Writes points to a file that appears whole or not at all.
#pragma once

#include <kith/io/append_columns.hpp>
#include <kith/io/format.hpp>
#include <kith/io/read_points.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// How points are written. CSV, NPY, NPZ, PLY, PCD and LAS can be written, each also compressed (.gz).
struct WriteOptions {
  /// `automatic` goes by the extension of the path.
  Format format = Format::automatic;
  /// One name per dimension; empty writes x, y, z (up to three) or c0, c1, …
  std::vector<std::string> columns = {};
  /// CSV only: a last column "label". Not owned.
  const Labels* labels = nullptr;
  /// Text forms of PLY and PCD instead of the binary ones.
  bool ascii = false;
  ProgressCallback progress = {};
  /// CSV only: further columns behind those.
  std::vector<AppendedColumn> appended = {};
};

/// Writes to a temporary file beside `path`, then renames it. "-" is standard output. Throws IoError, UsageError if the
/// format cannot be written, Interrupted.
KITH_EXPORT void write_points(const std::string& path, PointView points, const WriteOptions& options = {});

}  // namespace kith::io::inline v0
