// See outliers.hpp: one search of the points among themselves, then the rule.
#include <kith/apps/outliers.hpp>

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
#include <limits>

namespace kith::apps::inline v0 {
namespace {

/// Points whose lists are in memory at one time.
constexpr std::uint64_t kListedPoints = std::uint64_t{1} << 20;
/// Entries of these lists.
constexpr std::uint64_t kListedEntries = std::uint64_t{1} << 27;

Index index_of(PointView points, const OutlierOptions& options) {
  BuildOptions build{.device = options.device};
  build.expected_queries = points.rows();
  build.threads = options.threads;
  build.progress = options.progress;
  return Index::build(points, build);
}

/// Adds up the lists of points from `first` on. Of a list, entries from `skip` on count.
template <typename T>
void add_lists(const Neighbors& found, std::uint32_t skip, std::uint64_t first, int threads,
               std::vector<double>& means) {
  constexpr std::uint64_t kListsPerTask = 4096;
  const std::uint32_t k = found.k();
  const std::span<const T> distances = found.distances().values<T>();
  runtime::parallel_for((found.queries() + kListsPerTask - 1) / kListsPerTask, {.threads = threads},
                        [&](std::uint64_t task) {
                          const std::uint64_t end = std::min(found.queries(), (task + 1) * kListsPerTask);
                          for (std::uint64_t q = task * kListsPerTask; q < end; ++q) {
                            double sum = 0;
                            for (std::uint32_t j = skip; j < k; ++j) sum += static_cast<double>(distances[q * k + j]);
                            means[first + q] = sum / (k - skip);
                          }
                        });
}

/// Per point the mean distance to its nearest others; all are finite.
std::vector<double> mean_distances_of(PointView points, const OutlierOptions& options) {
  const auto k = static_cast<std::uint32_t>(std::min<std::uint64_t>(*options.neighbors, points.rows() - 1));
  std::vector<double> means(points.rows());
  if (k == 0) return means;
  const Index index = index_of(points, options);
  SearchOptions search;
  search.threads = options.threads;
  search.progress = options.progress;
  const auto add = [&](const Neighbors& found, std::uint32_t skip, std::uint64_t first) {
    core::visit_dtype(points.dtype(),
                      [&](auto zero) { add_lists<decltype(zero)>(found, skip, first, options.threads, means); });
  };
  const std::uint64_t listed = std::clamp<std::uint64_t>(kListedEntries / (k + 1), 1, kListedPoints);
  if (points.rows() <= listed) {
    search.exclude_self = true;
    add(index.knn_self(k, search), 0, 0);
    return means;
  }
  // The distance of a point from itself is 0, the first of its list; so without the first entry the distances are those
  // to the others, also where equal points come before it.
  for (std::uint64_t first = 0; first < points.rows(); first += listed) {
    const std::uint64_t count = std::min(listed, points.rows() - first);
    add(index.knn(points.slice(first, count), k + 1, search), 1, first);
  }
  return means;
}

void flag_by_distance(PointView points, const OutlierOptions& options, Outliers& result) {
  result.mean_distances = mean_distances_of(points, options);
  const std::vector<double>& means = result.mean_distances;
  const auto count = static_cast<double>(means.size());
  const runtime::ParallelOptions parallel{.threads = options.threads};
  result.mean = ordered_total<1>(means.size(), parallel,
                                 [&](std::uint64_t i, core::Terms<1>& terms) { terms[0] = means[i]; })[0] /
                count;
  if (!std::isfinite(result.mean)) core::throw_distance_overflow(points.dtype());
  const double squares = ordered_total<1>(means.size(), parallel, [&](std::uint64_t i, core::Terms<1>& terms) {
    const double apart = means[i] - result.mean;
    terms[0] = apart * apart;
  })[0];
  result.deviation = means.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  result.threshold = result.mean + options.ratio * result.deviation;
  if (!std::isfinite(result.deviation) || !std::isfinite(result.threshold))
    core::throw_distance_overflow(points.dtype());
  for (std::uint64_t i = 0; i < means.size(); ++i) result.flags[i] = means[i] <= result.threshold ? 0 : 1;
}

void flag_by_count(PointView points, const OutlierOptions& options, Outliers& result) {
  SearchOptions search;
  search.exclude_self = true;
  search.threads = options.threads;
  search.progress = options.progress;
  result.counts = index_of(points, options).count_self(*options.radius, search);
  for (std::uint64_t i = 0; i < result.counts.size(); ++i) {
    result.flags[i] = result.counts[i] >= options.min_neighbors ? 0 : 1;
  }
}

/// False if the work is the CPU's.
bool flag_on_gpu(PointView points, const OutlierOptions& options, Outliers& result) {
  return run_on_gpu(points, options.device, points.rows(), [&](Device device) {
    DeviceOutlierOptions there{options};
    there.device = device;
    result.mean_distances.resize(options.neighbors ? points.rows() : 0);
    result.counts.resize(options.radius ? points.rows() : 0);
    const OutliersOnDevice found =
        outliers_on_device(points,
                           {.flags = result.flags.data(),
                            .mean_distances = options.neighbors ? result.mean_distances.data() : nullptr,
                            .counts = options.radius ? result.counts.data() : nullptr},
                           there);
    result.mean = found.mean;
    result.deviation = found.deviation;
    result.threshold = found.threshold;
  });
}

/// Per row of all points what `values` has for those that are usable, else `missing`.
template <typename T>
std::vector<T> spread(const std::vector<T>& values, const std::vector<std::uint32_t>& rows, std::uint64_t count,
                      T missing) {
  std::vector<T> all(count, missing);
  for (std::uint64_t i = 0; i < values.size(); ++i) all[rows[i]] = values[i];
  return all;
}

}  // namespace

Outliers outliers(PointView points, const OutlierOptions& options) {
  require_host_points(points, "find outliers");
  core::check_outliers(options);
  const runtime::Watched watched(&options.progress, "checking");
  const std::vector<std::uint32_t> rows =
      usable_rows(points, {.skip = options.skip_nonfinite, .threads = options.threads});
  Outliers result;
  result.skipped = points.rows() - rows.size();
  PointSet usable;
  PointView view = points;
  if (result.skipped > 0) {
    usable = take_rows(points, rows, options.threads);
    view = usable.view();
  }
  result.flags.assign(view.rows(), 0);
  if (!view.empty() && !flag_on_gpu(view, options, result)) {
    options.neighbors ? flag_by_distance(view, options, result) : flag_by_count(view, options, result);
  }
  if (result.skipped > 0) {
    result.flags = spread<std::uint8_t>(result.flags, rows, points.rows(), 1);
    if (options.neighbors) {
      result.mean_distances =
          spread(result.mean_distances, rows, points.rows(), std::numeric_limits<double>::quiet_NaN());
    } else {
      result.counts = spread(result.counts, rows, points.rows(), 0u);
    }
  }
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    if (result.flags[i] == 0) result.kept.push_back(static_cast<std::uint32_t>(i));
  }
  return result;
}

}  // namespace kith::apps::inline v0
