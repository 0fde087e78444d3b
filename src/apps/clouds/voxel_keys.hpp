// A 64-bit number for the voxel of each point: equal for equal voxels, different for different ones.
#pragma once

#include <kith/point_view.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {

/// One key per row of `rows`, whose coordinates are finite. Throws BadData, with the row, if a number of a cell is not
/// exact.
std::vector<std::uint64_t> voxel_keys(PointView points, std::span<const std::uint32_t> rows, double size, int threads);

}  // namespace kith::apps::inline v0
