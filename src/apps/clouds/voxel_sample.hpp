// What stands for the points of each voxel.
#pragma once

#include "apps/clouds/key_groups.hpp"

#include <kith/apps/downsample.hpp>

#include <cstdint>
#include <span>

namespace kith::apps::inline v0 {

/// Sets `points`, `rows` and `counts` of the result. `groups` are those of the voxels of `rows`.
void sample_voxels(PointView points, std::span<const std::uint32_t> rows, const KeyGroups& groups,
                   const DownsampleOptions& options, Downsampled& result);

}  // namespace kith::apps::inline v0
