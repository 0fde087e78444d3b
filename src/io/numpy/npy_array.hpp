// One NumPy array inside a file, alone (.npy) or as a member of an archive (.npz).
#pragma once

#include <kith/io/read_points.hpp>

#include "runtime/input_file.hpp"

#include <cstdint>
#include <string>

namespace kith::io::inline v0 {

/// The points of the array in [begin, begin + size) of the file; `what` names it in messages.
PointFile read_npy_points(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t size,
                          const std::string& what, const ReadOptions& options, Format format);

}  // namespace kith::io::inline v0
