// Balanced k-d trees of points in the memory of a GPU, as arrays there. Nothing here includes a CUDA header.
#pragma once

#include <kith/apps/tree_export.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::apps::inline v0 {

/// Where the tree goes: arrays in the memory of the GPU that holds the points, or of the host if that holds them, with
/// an entry per point each, of which the first ones are used.
struct DeviceTreeArrays {
  std::uint32_t* point = nullptr;      ///< as NodeTable::point and InOrderTree::index
  std::uint32_t* split_dim = nullptr;  ///< as in both
  std::uint32_t* less = nullptr;       ///< as NodeTable::less; null if not wanted, and `greater`, too
  std::uint32_t* greater = nullptr;
  void* rows = nullptr;  ///< as InOrderTree::points, dims coordinates of the points' type per entry; null if not wanted
};

/// As TreeExportOptions. `device` counts only for points in host memory.
struct DeviceTreeOptions : TreeExportOptions {
  /// A cudaStream_t of the GPU that holds the points; null is CUDA's default stream.
  void* stream = nullptr;
};

struct TreeOnDevice {
  std::uint64_t nodes = 0;
  std::uint32_t root = kNoNode;
};

/// export_node_table and export_in_order (kith/apps/tree_export.hpp) on the GPU that holds the points: the same
/// numbers. The work begins when that in the stream is done, and is done when the call returns. Of GPU memory it takes
/// two copies of the points and about 10 bytes per point; with `unique`, before that, 32 bytes per point. Points of
/// more than some thousand dims go through the host.
///
/// Throws as those; UsageError if an array is not there, or if rows on the GPU overlap or lie backwards; DeviceError.
KITH_EXPORT TreeOnDevice export_tree_on_device(PointView points, const DeviceTreeArrays& arrays,
                                               const DeviceTreeOptions& options = {});

/// The arrays of a tree in host memory, as in DeviceTreeArrays: a table, or a tree in order.
struct ClaimedTreeArrays {
  const std::uint32_t* point = nullptr;
  const std::uint32_t* split_dim = nullptr;
  const std::uint32_t* less = nullptr;
  const std::uint32_t* greater = nullptr;
  const void* rows = nullptr;
};

/// Whether a tree of points in host memory, whose arrays are there too, keeps every promise: looked at on the GPU
/// `options.device`. `nodes` and `root` are what it claims to have. verify_tree with a GPU calls this, and the CPU
/// where it is false, to say what is wrong. Throws DeviceError, OutOfMemory, UsageError.
KITH_EXPORT bool is_tree_on_device(PointView points, const ClaimedTreeArrays& arrays, const TreeOnDevice& claimed,
                                   const DeviceTreeOptions& options);

}  // namespace kith::apps::inline v0
