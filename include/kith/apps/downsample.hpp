// Fewer points of a cloud: one per voxel, the farthest from each other, or none closer than a distance.
#pragma once

#include <kith/device.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// What stands for the points of a voxel: their mean, the one of them that is nearest to the mean, or the first.
enum class VoxelKeep : std::uint8_t { mean, nearest, first };

/// "mean", "nearest" or "first".
KITH_EXPORT std::string_view name_of(VoxelKeep keep);
/// The reverse of `name_of`. Throws UsageError on anything else.
KITH_EXPORT VoxelKeep parse_voxel_keep(std::string_view text);

/// Exactly one of `voxel`, `farthest` and `distance` must be set.
struct DownsampleOptions {
  /// The side of voxels, above 0. A point is in the voxel with the numbers floor(x / voxel), computed in f64, one per
  /// dimension: the grid begins at the origin of the coordinates, wherever the points are.
  std::optional<double> voxel = {};
  VoxelKeep keep = VoxelKeep::mean;
  /// So many points, or all if there are fewer: `start` first, then always the point whose distance (L2, as in
  /// `Index`) from the nearest one that was taken is largest, ties to the lowest row.
  std::optional<std::uint64_t> farthest = {};
  std::uint64_t start = 0;  ///< the row that farthest point sampling begins with
  /// Points in order, each kept unless one within this distance was kept before: `dedupe` with a tolerance.
  std::optional<double> distance = {};
  /// Whether `Downsampled::map` is filled; free with `voxel` and `farthest`.
  bool want_map = false;
  /// Whether `Downsampled::rows` is filled for means, too; it is for all others.
  bool want_rows = true;
  /// Leave out points with NaN or infinity instead of throwing.
  bool skip_nonfinite = false;
  /// Where the work runs: the CPU, also if it is `automatic`, or a GPU, to and from which all is copied. The result
  /// does not depend on it. Of samples without voxels only the searches of `distance` run there.
  Device device = Device::cpu();
  /// Threads on the CPU; 0 means all cores. The result does not depend on it.
  int threads = 0;
  ProgressCallback progress = {};
};

struct Downsampled {
  /// The result, in the type of the points: with voxels in the order of the first point of each, with `farthest` in the
  /// order in which they were taken, with `distance` by row.
  PointSet points;
  /// Per point of the result its row; of a mean the row of the point nearest to it (ties: the lowest row).
  std::vector<std::uint32_t> rows;
  /// Per point of the result how many points it stands for; empty unless voxels or the map were requested.
  std::vector<std::uint32_t> counts;
  /// Per point its place in the result: its voxel; with `farthest` the nearest point that was taken, ties to the one
  /// taken first; with `distance` as in `Deduped::map`. `kLeftOut` (2^32 - 1) for points that were left out. Empty
  /// unless wanted.
  std::vector<std::uint32_t> map;
  /// Points left out because of NaN or infinity.
  std::uint64_t skipped = 0;
};

/// Any number of dimensions. The mean of a voxel: its points by ascending row are added in f64 in chunks of 1024, one
/// by one from 0, the sums of chunks likewise, and the total is divided by the count and rounded once to the type of
/// the points. "Nearest" compares squared distances from the mean in f64 before it is rounded, each a chain of fused
/// multiply-adds by dimension.
/// Voxels: O(n), about 40 bytes per point. Farthest: O(n) per point taken at worst, far less where points are spread,
/// as buckets of 128 points are skipped that no new point can change. Throws BadData on NaN or infinity and on a point
/// whose voxel numbers reach 2^53, UsageError on options that make no sense, OutOfMemory, DeviceError, Interrupted.
KITH_EXPORT Downsampled downsample(PointView points, const DownsampleOptions& options);

}  // namespace kith::apps::inline v0
