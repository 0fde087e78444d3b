// Voxels on a GPU: what the kernels get. Plain data, for host and device; all arrays are in device memory.
#pragma once

#include "core/cloud/voxel_cell.hpp"
#include "cuda/kd_tree/build/build_types.hpp"

#include <kith/apps/downsample.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace kith::cuda {

/// Where the cells of a dimension lie in a key.
struct CellBits {
  std::int64_t low = 0;     ///< the lowest cell that occurs
  std::uint32_t shift = 0;  ///< bits below
};

/// Points in 2 or 3 dims and their voxels.
template <typename T>
struct VoxelTask {
  const T* rows = nullptr;
  std::uint64_t row_stride = 0;
  std::uint32_t count = 0;
  double size = 0;
  CellBits cells[3] = {};
  apps::VoxelKeep keep = apps::VoxelKeep::mean;
  T* sample = nullptr;                 ///< side by side, an entry per voxel, as those that follow
  std::uint32_t* kept_rows = nullptr;  ///< may be null, as those that follow
  std::uint32_t* counts = nullptr;
  std::uint32_t* map = nullptr;  ///< per point

  /// Whether a point of the voxel is looked for that is nearest to the mean.
  KITH_HOST_DEVICE bool wants_nearest() const {
    return keep == apps::VoxelKeep::nearest || (keep == apps::VoxelKeep::mean && kept_rows != nullptr);
  }
};

/// Sets the cells from the box of the points, whose ordered keys are the lower, then the upper corner. Returns the bits
/// of keys; nothing if a coordinate is not finite, cells are not exact, or keys would have more than 64 bits.
template <typename T>
std::optional<std::uint32_t> set_cells(VoxelTask<T>& task, const OrderedKey<T>* box, std::uint32_t dims) {
  std::uint32_t bits = 0;
  for (std::uint32_t d = dims; d-- > 0;) {
    const auto lowest = static_cast<double>(value_of_key<T>(box[d]));
    const auto highest = static_cast<double>(value_of_key<T>(box[dims + d]));
    if (!std::isfinite(lowest) || !std::isfinite(highest)) return std::nullopt;
    const double low = core::voxel_cell(lowest, task.size), high = core::voxel_cell(highest, task.size);
    if (!core::is_exact_cell(low) || !core::is_exact_cell(high)) return std::nullopt;
    task.cells[d] = {static_cast<std::int64_t>(low), bits};
    bits += static_cast<std::uint32_t>(
        std::bit_width(static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - static_cast<std::int64_t>(low))));
    if (bits > 64) return std::nullopt;
  }
  return bits;
}

}  // namespace kith::cuda
