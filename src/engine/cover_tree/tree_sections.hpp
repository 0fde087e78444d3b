// The cover tree in an index file: its arrays as they lie in memory. The objects are stored separately.
#pragma once

#include "engine/cover_tree/cover_tree.hpp"
#include "engine/index_file/index_file.hpp"
#include "engine/index_file/index_file_writer.hpp"

namespace kith::engine {

/// Adds the sections and the parameters (0: leaf size, 1: separation). The tree must outlive the writer.
void save_cover_tree(const CoverTree& tree, IndexFileWriter& writer);

/// A tree over all points that lies in the file's memory. Throws CorruptFile if sections or parameters do not fit, and,
/// unless the file is trusted, for anything in the arrays that is wrong whatever the objects are. Distances are to be
/// measured by who has the objects.
CoverTree cover_tree_in_file(const IndexFile& file);

}  // namespace kith::engine
