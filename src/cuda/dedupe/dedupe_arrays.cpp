// See dedupe_arrays.hpp. Equal points are found where they are, or in a copy on the GPU. Tolerances, and messages about
// points that cannot be used, are the host's: apps::dedupe, with searches on the GPU.
#include "cuda/dedupe/dedupe_arrays.hpp"

#include "core/dispatch.hpp"
#include "cuda/dedupe/equal_rows.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/runtime/rows_on_device.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace kith::cuda {
namespace {

using engine::DedupeRequest;

bool is_on_gpu(const DedupeRequest& request) { return request.points.device().kind() == Device::Kind::cuda; }

template <typename T>
EqualTask<T> task_of(const DedupeRequest& request) {
  return {.rows = static_cast<const T*>(request.points.data()),
          .row_stride = static_cast<std::uint64_t>(request.points.row_stride()),
          .count = static_cast<std::uint32_t>(request.points.rows()),
          .dims = request.points.dims(),
          .scores = request.options.scores.empty() ? nullptr : request.options.scores.data(),
          .prefer_low = request.options.prefer_low,
          .hash_mask = request.hash_mask};
}

template <typename T>
EqualReport keep_by_copies(const DedupeRequest& request, BuildPhases* phases) {
  const Stream stream;
  const CopyOptions copying{.threads = request.options.threads, .progress = &request.options.progress};
  EqualTask<T> task = task_of<T>(request);
  const DeviceBuffer<T> rows = copy_of<T>(request.points, stream, copying);
  task.rows = rows.data();
  task.row_stride = task.dims;
  DeviceBuffer<double> scores;
  if (task.scores != nullptr) {
    scores = copy_of(task.scores, task.count, stream, copying);
    task.scores = scores.data();
  }
  DeviceBuffer<std::uint32_t> kept(task.count, stream), map(request.map == nullptr ? 0 : task.count, stream);
  const EqualReport report = keep_first_rows(task, kept.data(), map.data(), stream, phases);
  copy_to_host(request.kept, kept.data(), report.kept * sizeof(std::uint32_t), stream, copying);
  if (request.map != nullptr) copy_to_host(request.map, map.data(), map.bytes(), stream, copying);
  return report;
}

apps::DedupedOnDevice by_host(const DedupeRequest& request) {
  apps::DedupeOptions options = request.options;
  options.want_map = request.map != nullptr;
  options.device = options.tolerance ? request.device : Device::cpu();
  PointView points = request.points;
  PointSet copy;
  std::vector<double> scores(is_on_gpu(request) ? options.scores.size() : 0);
  const Stream stream(static_cast<cudaStream_t>(request.options.stream), request.device.ordinal());
  const CopyOptions copying{.threads = options.threads};
  if (is_on_gpu(request)) {
    stream.synchronize();
    copy = copy_points_to_host(points, options.threads);
    points = copy.view();
    if (!scores.empty()) {
      copy_to_host(scores.data(), options.scores.data(), scores.size() * sizeof(double), stream, copying);
      options.scores = scores;
    }
  }
  const apps::Deduped found = apps::dedupe(points, options);
  const auto hand_over = [&](std::uint32_t* to, const std::vector<std::uint32_t>& from) {
    if (is_on_gpu(request)) {
      copy_to_device(to, from.data(), from.size() * sizeof(std::uint32_t), stream, copying);
    } else {
      std::copy(from.begin(), from.end(), to);
    }
  };
  hand_over(request.kept, found.kept);
  hand_over(request.map, found.map);
  if (is_on_gpu(request)) stream.synchronize();
  return {.kept = found.kept.size(), .skipped = found.skipped};
}

}  // namespace

apps::DedupedOnDevice dedupe_arrays(const DedupeRequest& request, BuildPhases* phases) {
  const auto require = [&](const void* memory, std::string_view what) {
    if (memory == nullptr || is_on_device(memory, request.device)) return;
    throw UsageError(fmt::format("{}: the array is not in the memory of {}", what, request.device.name()));
  };
  if (is_on_gpu(request)) {
    require(request.points.data(), "points");
    require(request.kept, "kept");
    require(request.map, "map");
    require(request.options.scores.data(), "scores");
  }
  const DeviceScope scope(request.device.ordinal());
  if (request.options.tolerance) return by_host(request);
  const EqualReport report = core::visit_dtype(request.points.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if (!is_on_gpu(request)) return keep_by_copies<T>(request, phases);
    const Stream stream(static_cast<cudaStream_t>(request.options.stream), request.device.ordinal());
    return keep_first_rows(task_of<T>(request), request.kept, request.map, stream, phases);
  });
  if (report.bad > 0 && !request.options.skip_nonfinite) return by_host(request);  // throws: it names the first one
  return {.kept = report.kept, .skipped = report.bad};
}

}  // namespace kith::cuda
