// See dedupe.hpp: checks what was asked for, lets equal_rows or thin_out decide, and numbers what is kept.
#include <kith/apps/dedupe.hpp>
#include <kith/apps/dedupe_on_device.hpp>

#include "apps/equal_rows.hpp"
#include "apps/thin_out.hpp"
#include "core/metric/metric_params.hpp"
#include "apps/usable_rows.hpp"
#include "runtime/memory_limit.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/memory_limit.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace kith::apps::inline v0 {
namespace {

/// Numbers of the points: usable, kept, the first equal one, the map; with what is equal hashes of all.
constexpr std::uint64_t kBytesPerPoint = 24;

bool is_for_gpu(const DedupeOptions& options) { return options.device.kind() == Device::Kind::cuda; }

void check_options(PointView points, const DedupeOptions& options) {
  require_host_points(points, "remove duplicates");
  if (options.tolerance && !(*options.tolerance >= 0)) {
    throw UsageError(fmt::format("the tolerance must be at least 0, not {}", *options.tolerance));
  }
  if (options.tolerance && !options.metric.info().has_distances) {
    throw UsageError(
        fmt::format("a tolerance is a distance, but the metric {} has none: it is {}; choose another metric",
                    options.metric.name(), options.metric.info().summary));
  }
  if (!options.scores.empty() && options.scores.size() != points.rows()) {
    throw UsageError(fmt::format("{} scores for {} points; give one per point", options.scores.size(), points.rows()));
  }
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  if (is_for_gpu(options)) Index::plan(1, 1, DType::f32, {.device = options.device});  // throws if it cannot be used
}

/// The number of each kept row in the result; other entries mean nothing.
std::vector<std::uint32_t> new_numbers(std::uint64_t rows, const std::vector<std::uint32_t>& kept) {
  std::vector<std::uint32_t> numbers(rows);
  for (std::size_t i = 0; i < kept.size(); ++i) numbers[kept[i]] = static_cast<std::uint32_t>(i);
  return numbers;
}

Deduped remove_equal(PointView points, const std::vector<std::uint32_t>& rows, const DedupeOptions& options) {
  const EqualRowsOptions equal{{options.scores, options.prefer_low}, options.threads, &options.progress};
  const std::vector<std::uint32_t> first_equal = first_equal_rows(points, rows, equal);
  Deduped result;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(result.kept),
               [&](std::uint32_t row) { return first_equal[row] == row; });
  if (options.want_map) {
    const std::vector<std::uint32_t> numbers = new_numbers(points.rows(), result.kept);
    result.map.assign(points.rows(), kLeftOut);
    for (const std::uint32_t row : rows) result.map[row] = numbers[first_equal[row]];
  }
  return result;
}

Deduped remove_equal_on_gpu(PointView points, const DedupeOptions& options) {
  Deduped result;
  result.kept.resize(points.rows());
  if (options.want_map) result.map.resize(points.rows());
  const DedupedOnDevice found =
      dedupe_on_device(points, result.kept.data(), options.want_map ? result.map.data() : nullptr, {options});
  result.kept.resize(found.kept);
  result.skipped = found.skipped;
  return result;
}

Deduped remove_near(PointView points, const std::vector<std::uint32_t>& rows, const DedupeOptions& options) {
  const ThinOutOptions thin{*options.tolerance,
                            options.metric,
                            core::params_for(options.metric, options.metric_params, points),
                            {options.scores, options.prefer_low},
                            is_for_gpu(options) ? options.device : Device::cpu(),
                            options.threads,
                            &options.progress};
  const std::vector<std::uint32_t> in_order = thin_out(points, rows, thin);
  Deduped result;
  result.kept = in_order;
  std::sort(result.kept.begin(), result.kept.end());
  if (options.want_map) {
    const std::vector<std::uint32_t> numbers = new_numbers(points.rows(), result.kept);
    std::vector<std::uint32_t> removed;
    std::set_difference(rows.begin(), rows.end(), result.kept.begin(), result.kept.end(), std::back_inserter(removed));
    const std::vector<std::uint32_t> first_kept = first_kept_within(points, removed, in_order, thin);
    result.map.assign(points.rows(), kLeftOut);
    for (const std::uint32_t row : result.kept) result.map[row] = numbers[row];
    for (std::size_t i = 0; i < removed.size(); ++i) result.map[removed[i]] = numbers[in_order[first_kept[i]]];
  }
  return result;
}

}  // namespace

Deduped dedupe(PointView points, const DedupeOptions& options) {
  check_options(points, options);
  const runtime::Watched watched(&options.progress, "checking");
  try {
    if (is_for_gpu(options) && !options.tolerance) return remove_equal_on_gpu(points, options);
    const std::uint64_t bytes = points.rows() * kBytesPerPoint;
    if (!is_for_gpu(options)) runtime::require_allowed(bytes, "removing duplicates");
    const MemoryLimit held(0, bytes);
    const bool needs_direction = options.tolerance && options.metric.is_of_directions();
    const std::vector<std::uint32_t> rows =
        usable_rows(points, {needs_direction, options.scores, options.skip_nonfinite, options.threads});
    Deduped result = options.tolerance ? remove_near(points, rows, options) : remove_equal(points, rows, options);
    result.skipped = points.rows() - rows.size();
    return result;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("removing duplicates among {} points needs about {} bytes; free some memory",
                                  points.rows(), points.rows() * kBytesPerPoint));
  }
}

}  // namespace kith::apps::inline v0
