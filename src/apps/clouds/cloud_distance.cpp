// See cloud_distance.hpp: the nearest point of each point, then figures of the distances.
#include <kith/apps/cloud_distance.hpp>

#include "apps/ordered_total.hpp"
#include "apps/usable_rows.hpp"
#include "apps/work_place.hpp"
#include "core/cloud/cloud_checks.hpp"
#include "core/dispatch.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/apps/clouds_on_device.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace kith::apps::inline v0 {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint32_t kNoRow = 0xffffffff;

/// The usable points of a cloud side by side, with their rows.
class UsableCloud {
 public:
  UsableCloud(PointView points, const char* name, const CloudDistanceOptions& options) : all_(points) {
    try {
      rows_ = usable_rows(points, {.skip = options.skip_nonfinite, .threads = options.threads});
    } catch (const BadRow& bad) {
      throw BadRow(name, bad.row(), bad.column(), bad.problem());
    }
    if (skipped() > 0) copy_ = take_rows(points, rows_, options.threads);
  }

  PointView view() const { return skipped() > 0 ? copy_.view() : all_; }
  std::uint64_t all() const { return all_.rows(); }
  std::uint64_t skipped() const { return all_.rows() - rows_.size(); }
  std::uint32_t row(std::uint64_t i) const { return rows_[i]; }

 private:
  PointView all_;
  std::vector<std::uint32_t> rows_;
  PointSet copy_;
};

/// Sets distances and nearest rows.
void find_nearest(const UsableCloud& from, const UsableCloud& to, const CloudDistanceOptions& options,
                  DirectedDistance& result) {
  result.distances.assign(from.all(), kUnknown);
  result.nearest.assign(from.all(), kNoRow);
  const PointView queries = from.view();
  const std::uint64_t points = to.view().rows();
  if (queries.empty()) return;
  std::vector<std::uint32_t> found(queries.rows());
  const auto search_as = [&]<typename T>(T) {
    std::vector<T> distances(queries.rows(), std::numeric_limits<T>::infinity());
    if (points > 0) {
      BuildOptions build{.device = options.device};
      build.expected_queries = queries.rows();
      build.threads = options.threads;
      build.progress = options.progress;
      SearchOptions search;
      search.max_distance = options.max_distance;
      search.threads = options.threads;
      search.progress = options.progress;
      Index::build(to.view(), build).knn(queries, 1, found, std::span<T>(distances), search);
    }
    for (std::uint64_t i = 0; i < queries.rows(); ++i) {
      const bool is_found = points > 0 && found[i] < points;
      result.distances[from.row(i)] = static_cast<double>(distances[i]);
      if (is_found) result.nearest[from.row(i)] = to.row(found[i]);
    }
  };
  core::visit_dtype(queries.dtype(), search_as);
}

/// The distance of nearest rank for each percentile.
std::vector<double> percentiles_of(const DirectedDistance& result, const std::vector<double>& percentiles) {
  std::vector<double> found(percentiles.size(), kUnknown);
  if (percentiles.empty() || result.matched == 0) return found;
  std::vector<double> sorted;
  sorted.reserve(result.matched);
  for (std::uint64_t i = 0; i < result.distances.size(); ++i) {
    if (result.nearest[i] != kNoRow) sorted.push_back(result.distances[i]);
  }
  for (std::size_t p = 0; p < percentiles.size(); ++p) {
    const std::uint64_t rank = core::rank_of_percentile(percentiles[p], sorted.size());
    const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    std::nth_element(sorted.begin(), at, sorted.end());
    found[p] = *at;
  }
  return found;
}

/// The same by a GPU that measures and adds up; false if that is the CPU's work. Of clouds without rows that are left
/// out, whose numbers and sums are the CPU's.
bool measure_on_gpu(PointView from, PointView to, const CloudDistanceOptions& options, DirectedDistance& result) {
  return run_on_gpu(to, options.device, from.rows(), [&](Device device) {
    DeviceCloudDistanceOptions there{options};
    there.device = device;
    there.symmetric = false;
    std::vector<double> distances(from.rows());
    std::vector<std::uint32_t> nearest(from.rows());
    result = cloud_distance_on_device(from, to, {distances.data(), nearest.data()}, {}, there).forward;
    result.distances = std::move(distances);
    result.nearest = std::move(nearest);
  });
}

DirectedDistance directed(const UsableCloud& from, const UsableCloud& to, const CloudDistanceOptions& options) {
  DirectedDistance result;
  const bool are_whole = from.skipped() == 0 && to.skipped() == 0 && from.all() > 0 && to.all() > 0;
  if (are_whole && measure_on_gpu(from.view(), to.view(), options, result)) return result;
  find_nearest(from, to, options, result);
  result.skipped = from.skipped();
  result.skipped_targets = to.skipped();
  result.max = kUnknown;
  for (std::uint64_t i = 0; i < result.distances.size(); ++i) {
    if (result.nearest[i] == kNoRow) continue;
    ++result.matched;
    if (result.max_row == kNoRow || result.distances[i] > result.max) {
      result.max = result.distances[i];
      result.max_row = static_cast<std::uint32_t>(i);
    }
  }
  result.unmatched = result.distances.size() - result.skipped - result.matched;
  const core::Terms<2> sums = ordered_total<2>(result.distances.size(), {.threads = options.threads},
                                               [&](std::uint64_t i, core::Terms<2>& terms) {
                                                 if (result.nearest[i] == kNoRow) return;
                                                 const double distance = result.distances[i];
                                                 terms = {distance, distance * distance};
                                               });
  const bool is_known = result.matched > 0;
  result.mean = is_known ? sums[0] / static_cast<double>(result.matched) : kUnknown;
  result.mean_squared = is_known ? sums[1] / static_cast<double>(result.matched) : kUnknown;
  result.rms = is_known ? std::sqrt(result.mean_squared) : kUnknown;
  result.percentiles = percentiles_of(result, options.percentiles);
  return result;
}

}  // namespace

CloudDistance cloud_distance(PointView first, PointView second, const CloudDistanceOptions& options) {
  require_host_points(first, "compare them");
  require_host_points(second, "compare them");
  core::check_cloud_distance(first, second, options);
  const runtime::Watched watched(&options.progress, "checking");
  const UsableCloud from(first, "first", options);
  const UsableCloud to(second, "second", options);
  CloudDistance result;
  result.forward = directed(from, to, options);
  result.chamfer = result.chamfer_squared = result.hausdorff = kUnknown;
  if (options.symmetric) {
    result.backward = directed(to, from, options);
    result.chamfer = result.forward.mean + result.backward->mean;
    result.chamfer_squared = result.forward.mean_squared + result.backward->mean_squared;
    const bool is_known = result.forward.matched > 0 && result.backward->matched > 0;
    if (is_known) result.hausdorff = std::max(result.forward.max, result.backward->max);
  }
  return result;
}

}  // namespace kith::apps::inline v0
