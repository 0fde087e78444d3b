// Duplicates among points of NumPy, and of arrays in the memory of a GPU by their addresses.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/dedupe_on_device.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using Address = std::uintptr_t;

apps::DedupeOptions options_of(std::optional<double> tolerance, const std::string& metric,
                               std::vector<double> metric_params, bool prefer_low, bool skip_nonfinite, int threads,
                               Watch& watch) {
  apps::DedupeOptions options;
  options.tolerance = tolerance;
  options.metric = Metric::parse(metric);
  options.metric_params = std::move(metric_params);
  options.prefer_low = prefer_low;
  options.skip_nonfinite = skip_nonfinite;
  options.threads = threads;
  options.progress = watch.callback();
  return options;
}

nb::tuple dedupe(const nb::object& points, const std::optional<Values<double>>& scores, bool want_map,
                 const std::string& device, std::optional<double> tolerance, const std::string& metric,
                 std::vector<double> metric_params, bool prefer_low, bool skip_nonfinite, int threads,
                 nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  apps::DedupeOptions options =
      options_of(tolerance, metric, std::move(metric_params), prefer_low, skip_nonfinite, threads, watch);
  if (scores) options.scores = span_of(*scores);
  options.want_map = want_map;
  options.device = Device::parse(device);
  const apps::Deduped found = watch.run([&] { return apps::dedupe(rows.view(), options); });
  nb::object map = nb::none();
  if (want_map) map = numpy_int64(found.map, {found.map.size()}, threads);
  return nb::make_tuple(numpy_int64(found.kept, {found.kept.size()}, threads), map, found.skipped);
}

nb::tuple dedupe_on_device(const DeviceRows& points, Address scores, Address kept, Address map, Address stream,
                           std::optional<double> tolerance, const std::string& metric,
                           std::vector<double> metric_params, bool prefer_low, bool skip_nonfinite, int threads,
                           nb::object progress) {
  Watch watch(std::move(progress));
  apps::DeviceDedupeOptions options{
      options_of(tolerance, metric, std::move(metric_params), prefer_low, skip_nonfinite, threads, watch)};
  if (scores != 0) options.scores = {reinterpret_cast<const double*>(scores), points.view.rows()};
  options.stream = reinterpret_cast<void*>(stream);
  const apps::DedupedOnDevice found = watch.run([&] {
    return apps::dedupe_on_device(points.view, reinterpret_cast<std::uint32_t*>(kept),
                                  reinterpret_cast<std::uint32_t*>(map), options);
  });
  return nb::make_tuple(found.kept, found.skipped);
}

}  // namespace

void bind_dedupe(nb::module_& module) {
  module.def("dedupe", &dedupe, "points"_a, "scores"_a.none(), "want_map"_a, "device"_a, nb::kw_only(),
             "tolerance"_a.none(), "metric"_a, "metric_params"_a, "prefer_low"_a, "skip_nonfinite"_a, "threads"_a,
             "progress"_a.none());
  module.def("dedupe_on_device", &dedupe_on_device, "points"_a, "scores"_a, "kept"_a, "map"_a, "stream"_a,
             nb::kw_only(), "tolerance"_a.none(), "metric"_a, "metric_params"_a, "prefer_low"_a, "skip_nonfinite"_a,
             "threads"_a, "progress"_a.none());
}

}  // namespace kith::python
