// The engines of the CPU, as the backend takes them.
#pragma once

#include "engine/backend.hpp"

#include <memory>
#include <vector>

namespace kith::cpu {

/// Every query against every point: any dims, any k.
template <typename T>
engine::PointEngine<T> brute_force();
/// For few dims: the unique tree of the contract.
template <typename T>
engine::PointEngine<T> kd_tree();
/// For many dims of which few matter. Its bytes are the most that it may need: how many nodes there will be only the
/// points tell.
template <typename T>
engine::PointEngine<T> cover_tree();

/// A searcher over a tree that is there and is the contract's. `period` as in BuildRequest.
template <typename T>
std::unique_ptr<engine::Searcher<T>> adopt_kd_tree(engine::KdTree<T> tree, Metric metric, std::vector<T> period);

/// Rows of bits: each query with each row.
///
/// | what it takes | bytes                                                 |
/// |---------------|-------------------------------------------------------|
/// | rows          | 8 per word of a row, up to 7 rows more at the end     |
std::unique_ptr<engine::BitSearcher> build_bit_search(const engine::BitBuildRequest& request);

/// Rows of bits that lie in clusters, by a cover tree. Throws OutOfMemory, Interrupted.
std::unique_ptr<engine::BitSearcher> build_bit_cover_search(const engine::BitBuildRequest& request);
/// Throws CorruptFile that names the first thing wrong with the tree, unless the file is trusted.
std::unique_ptr<engine::BitSearcher> load_bit_cover_search(const engine::BitLoadRequest& request);

/// Sequences and sets, by a cover tree or each query with each of them. Both throw as those of bits.
std::unique_ptr<engine::SequenceSearcher> build_sequence_search(const engine::SequenceBuildRequest& request);
std::unique_ptr<engine::SequenceSearcher> load_sequence_search(const engine::SequenceLoadRequest& request);

}  // namespace kith::cpu
