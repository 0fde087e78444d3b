// How many columns a text file has and how they are called, from a look at its first rows.
#pragma once

#include <kith/io/read_points.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::io {

/// What `read_points` will find with the same options.
struct TextHeader {
  std::uint32_t columns = 0;
  std::vector<std::string> names = {};  ///< one per column; empty if the file names none
};

/// Nothing if the file is no text file. Throws as `read_points` for files that cannot be read or hold no rows.
std::optional<TextHeader> read_text_header(const std::string& path, const ReadOptions& options = {});

}  // namespace kith::io
