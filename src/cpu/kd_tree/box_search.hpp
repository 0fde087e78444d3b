// Boxes by the tree: nodes outside are passed over, nodes wholly inside are taken without a test.
#pragma once

#include "cpu/kd_tree/kd_tree.hpp"
#include "engine/searcher.hpp"

#include <cstdint>

namespace kith::cpu {

/// The points in each box. Per box: about n^(1 - 1/dims) nodes along its faces, and the points inside, sorted.
template <typename T>
engine::IndexLists search_boxes(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes, const engine::RunOptions& run);

/// counts: one per box. Without a filter the points inside are not touched.
template <typename T>
void count_in_boxes(const KdTree<T>& tree, const engine::BoxBatch<T>& boxes, const engine::RunOptions& run,
                    std::uint32_t* counts);

}  // namespace kith::cpu
