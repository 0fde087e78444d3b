// Which rows of which files a rank reads: those whose bytes lie in its share of all bytes.
#pragma once

#include "output_flags.hpp"

#include <kith/io/point_rows.hpp>
#include <kith/io/read_points.hpp>
#include <kith/point_set.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::cli {

/// Some rows of a file.
struct FileShare {
  std::string path;
  std::optional<io::PointRows> rows = {};  ///< nothing: all of the file, which is read as a whole
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// What one of `ranks` ranks reads of these files, in their order: the shares of all ranks are all rows, one rank
/// behind the other. A file whose rows lie at regular places is cut between them; any other is read whole by the rank
/// in whose share it begins. Throws IoError.
std::vector<FileShare> shares_of(const std::vector<std::string>& paths, const io::ReadOptions& options, int rank,
                                 int ranks);

/// The rows of these shares, one behind the other. Throws as `read_input` does, UsageError if the files do not fit
/// together.
PointSet read_shares(const std::vector<FileShare>& shares, const io::ReadOptions& options, const OutputFlags& output,
                     const ProgressCallback& progress);

}  // namespace kith::cli
