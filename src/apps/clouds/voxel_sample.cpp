// See voxel_sample.hpp: each part of the groups is one thread's work, in ascending order of rows.
#include "apps/clouds/voxel_sample.hpp"

#include "core/arithmetic.hpp"
#include "core/cloud/chunked_sum.hpp"
#include "core/dispatch.hpp"
#include "runtime/parallel.hpp"

#include <kith/apps/take_rows.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kPointsAhead = 16;  // of a part's, which lie apart

template <typename T, std::uint32_t kDims>
class VoxelPart {
 public:
  VoxelPart(PointView points, std::span<const std::uint32_t> rows, const KeyGroups& groups, std::uint64_t part)
      : points_(points),
        rows_(rows),
        groups_(groups),
        first_(groups.part_items[part]),
        last_(groups.part_items[part + 1]),
        first_slot_(groups.part_slots[part]),
        slots_(groups.part_slots[part + 1] - first_slot_),
        dims_(kDims == core::kRuntimeDims ? points.dims() : kDims) {}

  void run(const DownsampleOptions& options, Downsampled& result, T* means) {
    const bool needs_nearest =
        options.keep == VoxelKeep::nearest || (options.keep == VoxelKeep::mean && options.want_rows);
    std::vector<std::uint32_t> counts(slots_);
    std::vector<double> mean;
    if (options.keep == VoxelKeep::first) {
      for (std::uint64_t i = first_; i < last_; ++i) ++counts[groups_.slot_of[i] - first_slot_];
    } else {
      mean = means_of(counts);
    }
    std::vector<std::uint32_t> nearest;
    if (needs_nearest) nearest = nearest_of(mean);
    for (std::uint32_t s = 0; s < slots_; ++s) {
      const std::uint32_t place = groups_.place[first_slot_ + s];
      result.counts[place] = counts[s];
      if (needs_nearest) result.rows[place] = nearest[s];
      if (options.keep == VoxelKeep::first) result.rows[place] = rows_[groups_.first_item[first_slot_ + s]];
      if (means == nullptr) continue;
      for (std::uint32_t d = 0; d < dims_; ++d) {
        means[std::uint64_t{place} * dims_ + d] = static_cast<T>(mean[std::uint64_t{s} * dims_ + d]);
      }
    }
  }

 private:
  /// Calls `with(row number, coordinates, slot in this part)` for the points of the part by ascending row.
  template <typename With>
  void for_each_point(const With& with) const {
    for (std::uint64_t i = first_; i < last_; ++i) {
      __builtin_prefetch(points_.row<T>(rows_[groups_.items[std::min(i + kPointsAhead, last_ - 1)]]));
      const std::uint32_t row = rows_[groups_.items[i]];
      with(row, points_.row<T>(row), groups_.slot_of[i] - first_slot_);
    }
  }

  std::vector<double> means_of(std::vector<std::uint32_t>& counts) const {
    std::vector<core::ChunkedSum> sums(std::uint64_t{slots_} * dims_);
    for_each_point([&](std::uint32_t, const T* point, std::uint32_t slot) {
      const std::uint32_t number = counts[slot]++;
      for (std::uint32_t d = 0; d < dims_; ++d) {
        sums[std::uint64_t{slot} * dims_ + d].add(static_cast<double>(point[d]), number);
      }
    });
    std::vector<double> mean(sums.size());
    for (std::uint64_t i = 0; i < sums.size(); ++i) mean[i] = sums[i].total() / counts[i / dims_];
    return mean;
  }

  std::vector<std::uint32_t> nearest_of(const std::vector<double>& mean) const {
    std::vector<std::uint32_t> nearest(slots_);
    std::vector<double> best(slots_, std::numeric_limits<double>::infinity());
    std::vector<std::uint8_t> is_set(slots_);
    for_each_point([&](std::uint32_t row, const T* point, std::uint32_t slot) {
      double squared = 0;
      for (std::uint32_t d = 0; d < dims_; ++d) {
        const double apart = static_cast<double>(point[d]) - mean[std::uint64_t{slot} * dims_ + d];
        squared = core::fused_multiply_add(apart, apart, squared);
      }
      if (is_set[slot] != 0 && !(squared < best[slot])) return;
      is_set[slot] = 1;
      best[slot] = squared;
      nearest[slot] = row;
    });
    return nearest;
  }

  PointView points_;
  std::span<const std::uint32_t> rows_;
  const KeyGroups& groups_;
  std::uint64_t first_, last_;
  std::uint32_t first_slot_, slots_, dims_;
};

}  // namespace

void sample_voxels(PointView points, std::span<const std::uint32_t> rows, const KeyGroups& groups,
                   const DownsampleOptions& options, Downsampled& result) {
  const bool is_mean = options.keep == VoxelKeep::mean;
  result.counts.resize(groups.count());
  if (!is_mean || options.want_rows) result.rows.resize(groups.count());
  if (is_mean) result.points = PointSet(points.dtype(), groups.count(), points.dims());
  core::visit_dtype(points.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* const means = is_mean ? result.points.values<T>().data() : nullptr;
    core::visit_dims(points.dims(), [&](auto dims) {
      const runtime::ParallelOptions parallel{
          .threads = options.threads, .stage = "sampling", .progress = &options.progress};
      runtime::parallel_for(groups.parts(), parallel, [&](std::uint64_t part) {
        VoxelPart<T, dims.value>(points, rows, groups, part).run(options, result, means);
      });
    });
  });
  if (!is_mean) result.points = take_rows(points, result.rows, options.threads);
}

}  // namespace kith::apps::inline v0
