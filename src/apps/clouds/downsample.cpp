// See downsample.hpp: checks what was asked for and lets the rule that was chosen decide.
#include <kith/apps/downsample.hpp>

#include "apps/clouds/farthest_points.hpp"
#include "apps/clouds/key_groups.hpp"
#include "apps/clouds/voxel_keys.hpp"
#include "apps/clouds/voxel_sample.hpp"
#include "apps/usable_rows.hpp"
#include "core/cloud/cloud_checks.hpp"
#include "core/dispatch.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/apps/clouds_on_device.hpp>
#include <kith/apps/dedupe.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace kith::apps::inline v0 {
namespace {

/// Usable rows, keys, keys and rows by part, groups, places of first items, the map.
constexpr std::uint64_t kVoxelBytesPerPoint = 40;
/// Usable rows, order and its reverse, the nearest of each, the map; boxes. Coordinates and distances come on top.
constexpr std::uint64_t kFarthestBytesPerPoint = 24;

std::uint64_t sampling_bytes(PointView points, const DownsampleOptions& options) {
  if (options.distance) return points.rows() * sizeof(std::uint32_t);  // dedupe counts the rest
  if (options.voxel) return points.rows() * kVoxelBytesPerPoint;
  return points.rows() * (kFarthestBytesPerPoint + (std::uint64_t{points.dims()} + 1) * size_of(points.dtype()));
}

/// Arrays for all points are made, of which the first ones are kept.
Downsampled by_voxels_on_gpu(PointView points, const DownsampleOptions& options) {
  Downsampled result;
  PointSet all(points.dtype(), points.rows(), points.dims());
  const bool wants_rows = options.keep != VoxelKeep::mean || options.want_rows;
  result.rows.resize(wants_rows ? points.rows() : 0);
  result.counts.resize(points.rows());
  result.map.resize(options.want_map ? points.rows() : 0);
  const SampledOnDevice found = core::visit_dtype(points.dtype(), [&](auto zero) {
    return downsample_on_device(points,
                                {.points = all.values<decltype(zero)>().data(),
                                 .rows = wants_rows ? result.rows.data() : nullptr,
                                 .counts = result.counts.data(),
                                 .map = options.want_map ? result.map.data() : nullptr},
                                {options});
  });
  result.points = PointSet::copy_of(all.view().slice(0, found.points));
  if (wants_rows) result.rows.resize(found.points);
  result.counts.resize(found.points);
  result.skipped = found.skipped;
  return result;
}

Downsampled by_voxels(PointView points, const std::vector<std::uint32_t>& rows, const DownsampleOptions& options) {
  Downsampled result;
  result.points = PointSet(points.dtype(), 0, points.dims());
  if (options.want_map) result.map.assign(points.rows(), kLeftOut);
  if (rows.empty()) return result;
  const KeyGroups groups = group_keys(voxel_keys(points, rows, *options.voxel, options.threads), options.threads);
  sample_voxels(points, rows, groups, options, result);
  if (options.want_map) {
    for (std::uint64_t i = 0; i < rows.size(); ++i) {
      result.map[rows[groups.items[i]]] = groups.place[groups.slot_of[i]];
    }
  }
  return result;
}

/// `counts` of a map.
std::vector<std::uint32_t> entries_of(const std::vector<std::uint32_t>& map, std::uint64_t kept) {
  std::vector<std::uint32_t> counts(kept);
  for (const std::uint32_t place : map) {
    if (place != kLeftOut) ++counts[place];
  }
  return counts;
}

Downsampled by_farthest(PointView points, const std::vector<std::uint32_t>& rows, const DownsampleOptions& options) {
  Downsampled result;
  const auto start = std::lower_bound(rows.begin(), rows.end(), options.start);
  if (!rows.empty() && (start == rows.end() || *start != options.start)) {
    throw UsageError(
        fmt::format("start: row {} has NaN or infinity and is left out; start with another", options.start));
  }
  const std::uint64_t count = std::min<std::uint64_t>(*options.farthest, rows.size());
  if (count > 0) {
    const FarthestPoints found = farthest_points(points, rows, count, static_cast<std::uint64_t>(start - rows.begin()),
                                                 options.threads, options.progress);
    for (const std::uint32_t place : found.taken) result.rows.push_back(rows[place]);
    if (options.want_map) {
      result.map.assign(points.rows(), kLeftOut);
      for (std::uint64_t i = 0; i < rows.size(); ++i) result.map[rows[i]] = found.nearest[i];
    }
  } else if (options.want_map) {
    result.map.assign(points.rows(), kLeftOut);
  }
  result.points = take_rows(points, result.rows, options.threads);
  return result;
}

Downsampled by_distance(PointView points, const DownsampleOptions& options) {
  Deduped found = dedupe(points, {.tolerance = options.distance,
                                  .skip_nonfinite = options.skip_nonfinite,
                                  .want_map = options.want_map,
                                  .device = options.device,
                                  .threads = options.threads,
                                  .progress = options.progress});
  Downsampled result;
  result.points = take_rows(points, found.kept, options.threads);
  result.rows = std::move(found.kept);
  result.map = std::move(found.map);
  return result;
}

}  // namespace

std::string_view name_of(VoxelKeep keep) {
  constexpr std::string_view kNames[] = {"mean", "nearest", "first"};
  return kNames[static_cast<std::size_t>(keep)];
}

VoxelKeep parse_voxel_keep(std::string_view text) {
  for (const VoxelKeep keep : {VoxelKeep::mean, VoxelKeep::nearest, VoxelKeep::first}) {
    if (text == name_of(keep)) return keep;
  }
  throw UsageError(fmt::format("unknown way to keep points of voxels \"{}\"; use mean, nearest or first", text));
}

Downsampled downsample(PointView points, const DownsampleOptions& options) {
  require_host_points(points, "downsample them");
  core::check_sampling(points, options);
  const bool is_for_gpu = options.device.kind() == Device::Kind::cuda;
  if (is_for_gpu) Index::plan(1, 1, DType::f32, {.device = options.device});  // throws if it cannot be used
  const runtime::Watched watched(&options.progress, "checking");
  const std::uint64_t bytes = sampling_bytes(points, options);
  try {
    if (is_for_gpu && options.voxel) return by_voxels_on_gpu(points, options);
    runtime::require_allowed(bytes, "downsampling");
    const MemoryLimit held(0, bytes);
    const std::vector<std::uint32_t> rows =
        usable_rows(points, {.skip = options.skip_nonfinite, .threads = options.threads});
    Downsampled result = options.voxel      ? by_voxels(points, rows, options)
                         : options.farthest ? by_farthest(points, rows, options)
                                            : by_distance(points, options);
    if (options.want_map && !options.voxel) result.counts = entries_of(result.map, result.rows.size());
    result.skipped = points.rows() - rows.size();
    return result;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("downsampling {} points needs about {} bytes; free some memory", points.rows(), bytes));
  }
}

}  // namespace kith::apps::inline v0
