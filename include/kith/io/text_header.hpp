// The columns of a text file, from a look at its first rows, and where a row of it stands.
#pragma once

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// What `read_points` will find with the same options.
struct TextHeader {
  std::uint32_t columns = 0;
  std::vector<std::string> names = {};  ///< one per column; empty if the file names none
};

/// Nothing if the file is no text file. Throws as `read_points` for files that cannot be read or hold no rows.
KITH_EXPORT std::optional<TextHeader> read_text_header(const std::string& path, const ReadOptions& options = {});

/// Where a value that `read_points` gave stands in a text file: "line 7, column 2 (y)", or "line 7" without a
/// dimension. Nothing for other files, and for those that can be read only once. Reads the file up to that line.
KITH_EXPORT std::optional<std::string> place_in_text(const std::string& path, const ReadOptions& options,
                                                     std::uint64_t row, std::optional<std::uint32_t> dimension);

}  // namespace kith::io::inline v0
