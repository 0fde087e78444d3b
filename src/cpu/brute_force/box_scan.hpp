// Boxes by brute force: every point is compared with the faces of every box.
#pragma once

#include "cpu/brute_force/packed_points.hpp"
#include "engine/searcher.hpp"

#include <cstdint>

namespace kith::cpu {

template <typename T>
engine::IndexLists scan_boxes(const PackedPoints<T>& points, const engine::BoxBatch<T>& boxes,
                              const engine::RunOptions& run);

/// counts: one per box.
template <typename T>
void count_in_boxes(const PackedPoints<T>& points, const engine::BoxBatch<T>& boxes, const engine::RunOptions& run,
                    std::uint32_t* counts);

}  // namespace kith::cpu
