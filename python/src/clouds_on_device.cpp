// Jobs on clouds in the memory of a GPU, whose arrays come by their addresses.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/clouds_on_device.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using Address = std::uintptr_t;

apps::CloudValues values_at(Address address, const DeviceRows& points) {
  if (points.view.dtype() == DType::f32) return reinterpret_cast<float*>(address);
  return reinterpret_cast<double*>(address);
}

std::uint32_t* numbers_at(Address address) { return reinterpret_cast<std::uint32_t*>(address); }

/// What all options have; Python has checked their types.
template <typename Options>
void take_common(const nb::kwargs& given, Watch& watch, Options& options) {
  options.skip_nonfinite = nb::cast<bool>(given["skip_nonfinite"]);
  options.threads = nb::cast<int>(given["threads"]);
  options.stream = reinterpret_cast<void*>(nb::cast<Address>(given["stream"]));
  options.progress = watch.callback();
}

void normals(const DeviceRows& points, Address normals_at, Address curvature_at, nb::object progress,
             const nb::kwargs& given) {
  Watch watch(std::move(progress));
  apps::DeviceNormalsOptions options;
  take_common(given, watch, options);
  options.neighbors = nb::cast<std::uint32_t>(given["neighbors"]);
  options.radius = nb::cast<std::optional<double>>(given["radius"]);
  options.direction = apps::parse_normal_direction(nb::cast<std::string>(given["orient"]));
  options.viewpoint = nb::cast<std::array<double, 3>>(given["viewpoint"]);
  watch.run([&] {
    apps::normals_on_device(points.view, values_at(normals_at, points), values_at(curvature_at, points), options);
  });
}

void transform(const DeviceRows& points, const std::array<double, 16>& pose, Address moved_at, nb::object progress,
               const nb::kwargs& given) {
  Watch watch(std::move(progress));
  apps::DeviceTransformOptions options;
  take_common(given, watch, options);
  const bool inverse = nb::cast<bool>(given["inverse"]), directions = nb::cast<bool>(given["directions"]);
  watch.run([&] {
    const apps::Pose applied = inverse ? apps::inverse({pose}) : apps::Pose{pose};
    if (directions) {
      apps::turn_directions_on_device(points.view, applied, values_at(moved_at, points), options);
    } else {
      apps::transform_on_device(points.view, applied, values_at(moved_at, points), options);
    }
  });
}

nb::tuple downsample(const DeviceRows& points, Address sample_at, Address rows_at, Address counts_at, Address map_at,
                     nb::object progress, const nb::kwargs& given) {
  Watch watch(std::move(progress));
  apps::DeviceDownsampleOptions options;
  take_common(given, watch, options);
  options.voxel = nb::cast<std::optional<double>>(given["voxel"]);
  options.keep = apps::parse_voxel_keep(nb::cast<std::string>(given["keep"]));
  options.farthest = nb::cast<std::optional<std::uint64_t>>(given["farthest"]);
  options.start = nb::cast<std::uint64_t>(given["start"]);
  options.distance = nb::cast<std::optional<double>>(given["distance"]);
  const apps::SampledOnDevice found = watch.run([&] {
    return apps::downsample_on_device(
        points.view, {values_at(sample_at, points), numbers_at(rows_at), numbers_at(counts_at), numbers_at(map_at)},
        options);
  });
  return nb::make_tuple(found.points, found.skipped);
}

nb::dict figures_of(const apps::DirectedDistance& found) {
  nb::dict result;
  result["matched"] = found.matched;
  result["unmatched"] = found.unmatched;
  result["skipped"] = found.skipped;
  result["mean"] = found.mean;
  result["mean_squared"] = found.mean_squared;
  result["rms"] = found.rms;
  result["max"] = found.max;
  result["max_row"] = found.max_row;
  result["percentiles"] = nb::cast(found.percentiles);
  return result;
}

/// Addresses of distances and nearest points, there and back.
nb::tuple cloud_distance(const DeviceRows& first, const DeviceRows& second, const std::array<Address, 4>& arrays,
                         nb::object progress, const nb::kwargs& given) {
  Watch watch(std::move(progress));
  apps::DeviceCloudDistanceOptions options;
  take_common(given, watch, options);
  options.symmetric = nb::cast<bool>(given["symmetric"]);
  options.max_distance = nb::cast<double>(given["max_distance"]);
  options.percentiles = nb::cast<std::vector<double>>(given["percentiles"]);
  const auto arrays_from = [&](std::size_t i) {
    return apps::NearestArrays{reinterpret_cast<double*>(arrays[i]), numbers_at(arrays[i + 1])};
  };
  const apps::CloudDistance found = watch.run(
      [&] { return apps::cloud_distance_on_device(first.view, second.view, arrays_from(0), arrays_from(2), options); });
  nb::object backward = nb::none();
  if (found.backward) backward = figures_of(*found.backward);
  return nb::make_tuple(figures_of(found.forward), backward, found.chamfer, found.chamfer_squared, found.hausdorff);
}

nb::tuple outliers(const DeviceRows& points, Address flags_at, Address kept_at, Address values_at, nb::object progress,
                   const nb::kwargs& given) {
  Watch watch(std::move(progress));
  apps::DeviceOutlierOptions options;
  take_common(given, watch, options);
  options.neighbors = nb::cast<std::optional<std::uint32_t>>(given["neighbors"]);
  options.ratio = nb::cast<double>(given["ratio"]);
  options.radius = nb::cast<std::optional<double>>(given["radius"]);
  options.min_neighbors = nb::cast<std::uint32_t>(given["min_neighbors"]);
  apps::OutlierArrays arrays{reinterpret_cast<std::uint8_t*>(flags_at), numbers_at(kept_at)};
  if (options.neighbors) {
    arrays.mean_distances = reinterpret_cast<double*>(values_at);
  } else {
    arrays.counts = numbers_at(values_at);
  }
  const apps::OutliersOnDevice found =
      watch.run([&] { return apps::outliers_on_device(points.view, arrays, options); });
  return nb::make_tuple(found.kept, found.mean, found.deviation, found.threshold, found.skipped);
}

}  // namespace

void bind_clouds_on_device(nb::module_& module) {
  module.def("normals_on_device", &normals, "points"_a, "normals"_a, "curvature"_a, "progress"_a.none(), "options"_a);
  module.def("transform_on_device", &transform, "points"_a, "pose"_a, "moved"_a, "progress"_a.none(), "options"_a);
  module.def("downsample_on_device", &downsample, "points"_a, "sample"_a, "rows"_a, "counts"_a, "map"_a,
             "progress"_a.none(), "options"_a);
  module.def("cloud_distance_on_device", &cloud_distance, "first"_a, "second"_a, "arrays"_a, "progress"_a.none(),
             "options"_a);
  module.def("outliers_on_device", &outliers, "points"_a, "flags"_a, "kept"_a, "values"_a, "progress"_a.none(),
             "options"_a);
}

}  // namespace kith::python
