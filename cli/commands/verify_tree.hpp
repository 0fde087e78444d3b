// The part of kith verify that checks exported trees.
#pragma once

#include "output_flags.hpp"

#include <kith/io/read_points.hpp>

#include <string>

namespace kith::cli {

/// Reads the tree and its points, checks all, reports. Throws BadData that names the first violation; returns 0.
int verify_tree_file(const std::string& tree_path, const std::string& points_path, io::ReadOptions read,
                     const OutputFlags& output);

}  // namespace kith::cli
