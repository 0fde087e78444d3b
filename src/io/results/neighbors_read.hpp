// Reads results of a search back from an open .npz archive; the public call opens the file.
#pragma once

#include <kith/neighbors.hpp>

#include "runtime/input_file.hpp"

#include <variant>

namespace kith::io::inline v0 {

/// See read_neighbors in <kith/io/neighbors_file.hpp>.
std::variant<Neighbors, NeighborLists> read_neighbors(const runtime::InputFile& file);

}  // namespace kith::io::inline v0
