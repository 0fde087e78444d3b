// Fewer points of a cloud, for arrays of NumPy.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/downsample.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

nb::tuple downsample(const nb::object& points, std::optional<double> voxel, const std::string& keep_of_voxel,
                     std::optional<std::uint64_t> farthest, std::uint64_t start, std::optional<double> distance,
                     bool want_map, bool skip_nonfinite, const std::string& device, int threads, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  apps::DownsampleOptions options;
  options.voxel = voxel;
  options.keep = apps::parse_voxel_keep(keep_of_voxel);
  options.farthest = farthest;
  options.start = start;
  options.distance = distance;
  options.want_map = want_map;
  options.skip_nonfinite = skip_nonfinite;
  options.device = Device::parse(device);
  options.threads = threads;
  options.progress = watch.callback();
  apps::Downsampled found = watch.run([&] { return apps::downsample(rows.view(), options); });
  nb::object map = nb::none(), counts = nb::none();
  if (want_map) map = numpy_int64(found.map, {found.map.size()}, threads);
  if (want_map || voxel) counts = numpy_int64(found.counts, {found.counts.size()}, threads);
  nb::object kept = numpy_int64(found.rows, {found.rows.size()}, threads);
  return nb::make_tuple(numpy_of(std::move(found.points)), kept, counts, map, found.skipped);
}

}  // namespace

void bind_downsample(nb::module_& module) {
  module.def("downsample", &downsample, "points"_a, nb::kw_only(), "voxel"_a.none(), "keep"_a, "farthest"_a.none(),
             "start"_a, "distance"_a.none(), "want_map"_a, "skip_nonfinite"_a, "device"_a, "threads"_a,
             "progress"_a.none());
}

}  // namespace kith::python
