// Points that lie apart from the others, for arrays of NumPy.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/outliers.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

nb::dict outliers(const nb::object& points, std::optional<std::uint32_t> neighbors, double ratio,
                  std::optional<double> radius, std::uint32_t min_neighbors, bool skip_nonfinite,
                  const std::string& device, int threads, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  apps::OutlierOptions options;
  options.neighbors = neighbors;
  options.ratio = ratio;
  options.radius = radius;
  options.min_neighbors = min_neighbors;
  options.skip_nonfinite = skip_nonfinite;
  options.device = Device::parse(device);
  options.threads = threads;
  options.progress = watch.callback();
  const apps::Outliers found = watch.run([&] { return apps::outliers(rows.view(), options); });
  nb::dict result;
  result["flags"] = numpy_bools(found.flags);
  result["kept"] = numpy_int64(found.kept, {found.kept.size()}, threads);
  if (neighbors) {
    const FreshArray<double> means({found.mean_distances.size()});
    std::copy(found.mean_distances.begin(), found.mean_distances.end(), means.values);
    result["values"] = means.array;
  } else {
    result["values"] = numpy_int64(found.counts, {found.counts.size()}, threads);
  }
  result["mean"] = found.mean;
  result["deviation"] = found.deviation;
  result["threshold"] = found.threshold;
  result["skipped"] = found.skipped;
  return result;
}

}  // namespace

void bind_outliers(nb::module_& module) {
  module.def("outliers", &outliers, "points"_a, nb::kw_only(), "neighbors"_a.none(), "ratio"_a, "radius"_a.none(),
             "min_neighbors"_a, "skip_nonfinite"_a, "device"_a, "threads"_a, "progress"_a.none());
}

}  // namespace kith::python
