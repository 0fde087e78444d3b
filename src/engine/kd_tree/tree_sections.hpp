// The k-d tree in an index file: its arrays as they lie in memory.
#pragma once

#include "engine/backend.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "engine/kd_tree/kd_tree.hpp"

#include <string>

namespace kith::engine {

/// Adds the sections and the parameters (0: leaf size, 1: split rule). The tree must outlive the writer.
template <typename T>
void save_tree(const KdTree<T>& tree, IndexFileWriter& writer);

/// A tree that lies in the file's memory. Throws CorruptFile if sections or parameters do not fit; of the values in the
/// arrays nothing is known yet.
template <typename T>
KdTree<T> tree_in_file(const IndexFile& file);

/// Throws CorruptFile unless all points of a tree, which is the contract's, lie in the periodic box.
template <typename T>
void require_inside_period(const KdTree<T>& tree, const LoadRequest& request);

/// tree_in_file, and unless the file is trusted every check of what the arrays hold. Throws CorruptFile that names the
/// first thing that is wrong.
template <typename T>
KdTree<T> load_tree(const LoadRequest& request);

/// The points of a tree, points x dims, in the order of their numbers.
template <typename T>
void copy_tree_rows(const KdTree<T>& tree, T* rows, int threads);

/// What is wrong first, or nothing. The arrays have the sizes that geometry and dims ask for; nothing else is believed:
/// the numbers of the points are a permutation, ascending within leaves, coordinates finite, padding zero, boxes tight,
/// smallest numbers right, split dimensions as the rule says, split values and sides as the super-key says. The same
/// answer for every number of threads.
///
/// O(n levels) time, one bit per point of memory.
template <typename T>
std::string first_violation(const KdTree<T>& tree, int threads);

}  // namespace kith::engine
