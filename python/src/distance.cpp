// Distances between two clouds, for arrays of NumPy.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/cloud_distance.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

nb::dict figures_of(const apps::DirectedDistance& found, DType dtype, int threads) {
  nb::dict result;
  const auto put = [&]<typename T>(T) {
    const FreshArray<T> distances({found.distances.size()});
    std::transform(found.distances.begin(), found.distances.end(), distances.values,
                   [](double value) { return static_cast<T>(value); });  // what was widened before
    result["distances"] = distances.array;
  };
  dtype == DType::f32 ? put(float{}) : put(double{});
  result["nearest"] = numpy_int64(found.nearest, {found.nearest.size()}, threads);
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

nb::tuple cloud_distance(const nb::object& first, const nb::object& second, bool symmetric, double max_distance,
                         std::vector<double> percentiles, bool skip_nonfinite, const std::string& device, int threads,
                         nb::object progress) {
  const Rows from(first, "first"), to(second, "second");
  Watch watch(std::move(progress));
  apps::CloudDistanceOptions options;
  options.symmetric = symmetric;
  options.max_distance = max_distance;
  options.percentiles = std::move(percentiles);
  options.skip_nonfinite = skip_nonfinite;
  options.device = Device::parse(device);
  options.threads = threads;
  options.progress = watch.callback();
  const apps::CloudDistance found = watch.run([&] { return apps::cloud_distance(from.view(), to.view(), options); });
  nb::object backward = nb::none();
  if (found.backward) backward = figures_of(*found.backward, to.view().dtype(), threads);
  return nb::make_tuple(figures_of(found.forward, from.view().dtype(), threads), backward, found.chamfer,
                        found.chamfer_squared, found.hausdorff);
}

}  // namespace

void bind_distance(nb::module_& module) {
  module.def("cloud_distance", &cloud_distance, "first"_a, "second"_a, nb::kw_only(), "symmetric"_a, "max_distance"_a,
             "percentiles"_a, "skip_nonfinite"_a, "device"_a, "threads"_a, "progress"_a.none());
}

}  // namespace kith::python
