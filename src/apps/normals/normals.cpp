// See normals.hpp: checks what was requested, fits planes to the usable rows, and turns the normals.
#include <kith/apps/normals.hpp>

#include "apps/clean_cloud.hpp"
#include "apps/normals/direct_normals.hpp"
#include "apps/normals/fit_planes.hpp"
#include "apps/work_place.hpp"
#include "core/cloud/cloud_checks.hpp"
#include "core/dispatch.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/apps/clouds_on_device.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kith::apps::inline v0 {
namespace {

/// Rows that were left out get zeros between the others.
template <typename T>
PointSet spread(const PointSet& of, const std::vector<std::uint32_t>& rows, std::uint64_t count) {
  PointSet all(dtype_of<T>, count, of.dims());
  std::fill(all.values<T>().begin(), all.values<T>().end(), T{0});
  for (std::uint64_t i = 0; i < rows.size(); ++i) {
    std::copy_n(of.values<T>().data() + i * of.dims(), of.dims(),
                all.values<T>().data() + std::uint64_t{rows[i]} * of.dims());
  }
  return all;
}

template <typename T>
std::uint64_t count_without(const PointSet& normals) {
  const std::span<const T> values = normals.values<T>();
  std::uint64_t without = 0;
  for (std::uint64_t i = 0; i < normals.rows(); ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * normals.dims());
    without += std::all_of(first, first + normals.dims(), [](T x) { return x == 0; }) ? 1 : 0;
  }
  return without;
}

/// False if the work is the CPU's.
template <typename T>
bool fit_on_gpu(PointView points, const NormalsOptions& options, Normals& result) {
  return run_on_gpu(points, options.device, points.rows(), [&](Device device) {
    DeviceNormalsOptions there{options};
    there.device = device;
    normals_on_device(points, result.normals.values<T>().data(), result.curvature.values<T>().data(), there);
  });
}

template <typename T>
Normals normals_of(PointView points, const NormalsOptions& options) {
  const CleanCloud cloud = clean_cloud(points, options.skip_nonfinite, options.threads, "compute normals");
  const PointSet& clean = cloud.points;
  Normals result;
  result.normals = PointSet(dtype_of<T>, clean.rows(), clean.dims());
  result.curvature = PointSet(dtype_of<T>, clean.rows(), 1);
  if (clean.rows() > 0 && !(core::fits_planes_on_gpu(options) && fit_on_gpu<T>(clean.view(), options, result))) {
    const Index index = Index::build(
        clean.view(), {.device = options.device, .threads = options.threads, .progress = options.progress});
    const std::span<const T> rows = clean.values<T>();
    const std::span<T> found = result.normals.values<T>();
    fit_planes<T>(index, rows, {options.neighbors, options.radius, options.threads, &options.progress}, found,
                  result.curvature.values<T>());
    if (options.direction == NormalDirection::viewpoint) {
      look_towards<T>(rows, clean.dims(), options.viewpoint.data(), found, options.threads);
    } else if (options.direction == NormalDirection::consistent) {
      agree_with_neighbors<T>(index, rows, std::max(options.neighbors, clean.dims()), found, options.threads);
    }
  }
  if (!cloud.rows.empty() || clean.rows() != points.rows()) {
    result.normals = spread<T>(result.normals, cloud.rows, points.rows());
    result.curvature = spread<T>(result.curvature, cloud.rows, points.rows());
  }
  result.without = count_without<T>(result.normals);
  return result;
}

}  // namespace

std::string_view name_of(NormalDirection direction) {
  switch (direction) {
    case NormalDirection::axis:
      return "axis";
    case NormalDirection::viewpoint:
      return "viewpoint";
    case NormalDirection::consistent:
      return "consistent";
  }
  return "";
}

NormalDirection parse_normal_direction(std::string_view text) {
  for (const NormalDirection direction :
       {NormalDirection::axis, NormalDirection::viewpoint, NormalDirection::consistent}) {
    if (text == name_of(direction)) return direction;
  }
  throw UsageError(fmt::format("\"{}\" is no direction of normals; known are axis, viewpoint and consistent", text));
}

Normals normals(PointView points, const NormalsOptions& options) {
  core::check_normals(points.dims(), options);
  const runtime::Watched watched(&options.progress, "checking");
  return core::visit_dtype(points.dtype(), [&](auto type) { return normals_of<decltype(type)>(points, options); });
}

}  // namespace kith::apps::inline v0
