// Errors of the library about a row, with the file and line that the row came from.
#pragma once

#include <kith/io/read_points.hpp>

#include <functional>
#include <string>
#include <vector>

namespace kith::cli {

/// A file that a command reads as an array of the library.
struct NamedFile {
  std::string array;  ///< what the library calls it: "points", "queries"
  std::string path;
  const io::ReadOptions* read;  ///< how it was read
};

/// What `work` returns. A BadRow that it throws becomes BadData that names the file, the line (of text; else the row)
/// and --skip-nonfinite.
int run_naming_rows(const std::vector<NamedFile>& files, const std::function<int()>& work);

}  // namespace kith::cli
