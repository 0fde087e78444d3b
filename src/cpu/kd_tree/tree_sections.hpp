// The k-d tree in an index file: its arrays as they lie in memory.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/backend.hpp"
#include "engine/index_file/index_file_writer.hpp"

namespace kith::cpu {

/// Adds the sections and the parameters (0: leaf size, 1: split rule). The tree must outlive the writer.
template <typename T>
void save_tree(const KdTree<T>& tree, engine::IndexFileWriter& writer);

/// A tree that lies in the file's memory. Throws CorruptFile if sections or parameters do not fit, or, unless the file
/// is trusted, if the arrays are not the contract's tree.
template <typename T>
KdTree<T> load_tree(const engine::LoadRequest& request);

/// The points of a tree, points x dims, in the order of their numbers.
template <typename T>
void copy_tree_rows(const KdTree<T>& tree, T* rows, int threads);

}  // namespace kith::cpu
