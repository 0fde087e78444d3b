// Normals and registration of clouds of NumPy, and registration of arrays in the memory of a GPU by their addresses.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/normals.hpp>
#include <kith/apps/registration.hpp>

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

nb::tuple normals(const nb::object& points, std::uint32_t neighbors, std::optional<double> radius,
                  const std::string& orient, const std::array<double, 3>& viewpoint, bool skip_nonfinite,
                  const std::string& device, int threads, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  apps::NormalsOptions options;
  options.neighbors = neighbors;
  options.radius = radius;
  options.direction = apps::parse_normal_direction(orient);
  options.viewpoint = viewpoint;
  options.skip_nonfinite = skip_nonfinite;
  options.device = Device::parse(device);
  options.threads = threads;
  options.progress = watch.callback();
  apps::Normals found = watch.run([&] { return apps::normals(rows.view(), options); });
  return nb::make_tuple(numpy_of(std::move(found.normals)), numpy_of(std::move(found.curvature)));
}

/// Every option by its name; Python has checked their types.
apps::RegistrationOptions options_of(const nb::kwargs& given, Watch& watch) {
  apps::RegistrationOptions options;
  const auto take = [&]<typename T>(const char* name, T& value) {
    if (given.contains(name)) value = nb::cast<T>(given[name]);
  };
  options.method = apps::parse_registration_method(nb::cast<std::string>(given["method"]));
  options.device = Device::parse(nb::cast<std::string>(given["device"]));
  if (given.contains("kernel")) options.kernel = apps::parse_robust_kernel(nb::cast<std::string>(given["kernel"]));
  if (given.contains("initial")) options.initial = apps::parse_initial_pose(nb::cast<std::string>(given["initial"]));
  if (given.contains("initial_pose")) {
    options.initial_pose.emplace();
    options.initial_pose->matrix = nb::cast<std::array<double, 16>>(given["initial_pose"]);
  }
  take("max_distance", options.max_distance);
  take("global_voxel", options.global_voxel);
  take("keep", options.keep);
  take("reciprocal", options.reciprocal);
  take("kernel_scale", options.kernel_scale);
  take("voxels", options.voxels);
  take("degrees_of_freedom", options.degrees_of_freedom);
  take("scale", options.scale);
  take("neighbors", options.neighbors);
  take("max_iterations", options.max_iterations);
  take("rotation_tolerance", options.rotation_tolerance);
  take("translation_tolerance", options.translation_tolerance);
  take("skip_nonfinite", options.skip_nonfinite);
  take("want_pairs", options.want_pairs);
  take("threads", options.threads);
  options.progress = watch.callback();
  return options;
}

template <std::size_t N>
nb::object numpy_of(const std::array<double, N>& values, std::initializer_list<std::size_t> shape) {
  const FreshArray<double> array(shape);
  std::copy(values.begin(), values.end(), array.values);
  return array.array;
}

nb::dict result_of(const apps::Registration& found) {
  nb::dict result;
  result["transformation"] = numpy_of(found.transformation.matrix, {4, 4});
  result["converged"] = found.converged();
  const std::string_view reason = apps::explain(found.end);
  result["reason"] = nb::str(reason.data(), reason.size());
  result["scale"] = found.scale;
  result["inliers"] = found.inliers;
  result["fitness"] = found.fitness;
  result["inlier_rmse"] = found.inlier_rmse;
  result["information"] = numpy_of(found.information, {6, 6});
  result["centre"] = numpy_of(found.centre, {3});
  nb::list iterations;
  for (const apps::RegistrationIteration& each : found.iterations) {
    iterations.append(nb::make_tuple(each.stage, each.pairs, each.fitness, each.inlier_rmse, each.error, each.turned,
                                     each.shifted, each.max_distance));
  }
  result["iterations"] = iterations;
  nb::list weak;
  for (const apps::WeakDirection& each : found.weak) {
    weak.append(nb::make_tuple(each.eigenvalue, each.relative, numpy_of(each.turn, {3}), numpy_of(each.shift, {3})));
  }
  result["weak"] = weak;
  const FreshArray<std::int64_t> pairs({found.pairs.size(), 2});
  for (std::size_t i = 0; i < found.pairs.size(); ++i) {
    pairs.values[i * 2] = found.pairs[i].source;
    pairs.values[i * 2 + 1] = found.pairs[i].target;
  }
  result["correspondence_set"] = pairs.array;
  result["skipped_source"] = found.skipped_source;
  result["skipped_target"] = found.skipped_target;
  if (found.global) {
    const apps::GlobalStart& start = *found.global;
    result["global_start"] = nb::make_tuple(start.found, numpy_of(start.pose.matrix, {4, 4}), start.voxel,
                                            start.source_points, start.target_points, start.matches, start.consistent,
                                            start.overlap, start.runner_up, start.milliseconds);
  } else {
    result["global_start"] = nb::none();
  }
  return result;
}

nb::dict register_clouds(const nb::object& source, const nb::object& target, nb::object progress,
                         const nb::kwargs& given) {
  const Rows from(source, "source"), to(target, "target");
  Watch watch(std::move(progress));
  const apps::RegistrationOptions options = options_of(given, watch);
  return result_of(watch.run([&] { return apps::register_clouds(from.view(), to.view(), options); }));
}

nb::dict register_on_device(const DeviceRows& source, const DeviceRows& target, std::uintptr_t stream,
                            nb::object progress, const nb::kwargs& given) {
  Watch watch(std::move(progress));
  apps::DeviceRegistrationOptions options{options_of(given, watch)};
  options.stream = reinterpret_cast<void*>(stream);
  return result_of(watch.run([&] { return apps::register_on_device(source.view, target.view, options); }));
}

/// Lists of NumPy arrays or DeviceRows; `starts` has 16 numbers or None for each pair.
nb::list register_pairs(const nb::list& sources, const nb::list& targets, const nb::list& starts, std::uintptr_t stream,
                        nb::object progress, const nb::kwargs& given) {
  std::vector<Rows> rows;  // keeps the arrays alive
  std::vector<apps::CloudPair> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    apps::CloudPair pair;
    pair.source = rows.emplace_back(sources[i], "source").view();
    pair.target = rows.emplace_back(targets[i], "target").view();
    if (!nb::handle(starts[i]).is_none()) {
      pair.initial_pose.emplace();
      pair.initial_pose->matrix = nb::cast<std::array<double, 16>>(starts[i]);
    }
    pairs.push_back(pair);
  }
  Watch watch(std::move(progress));
  apps::DeviceRegistrationOptions options{options_of(given, watch)};
  options.stream = reinterpret_cast<void*>(stream);
  nb::list results;
  for (const apps::Registration& found : watch.run([&] { return apps::register_pairs(pairs, options); })) {
    results.append(result_of(found));
  }
  return results;
}

/// A target of Python's: the library's, made without the GIL.
class Target {
 public:
  Target(const nb::object& points, nb::object progress, const nb::kwargs& given) {
    const Rows rows(points, "target");
    Watch watch(std::move(progress));
    const apps::RegistrationOptions options = options_of(given, watch);
    watch.run([&] { target_.emplace(rows.view(), options); });
  }

  nb::dict align(const nb::object& source, nb::object progress, const nb::kwargs& given) const {
    const Rows rows(source, "source");
    Watch watch(std::move(progress));
    const apps::RegistrationOptions options = options_of(given, watch);
    return result_of(watch.run([&] { return target_->align(rows.view(), options); }));
  }
  nb::dict align_target(const Target& source, nb::object progress, const nb::kwargs& given) const {
    Watch watch(std::move(progress));
    const apps::RegistrationOptions options = options_of(given, watch);
    return result_of(watch.run([&] { return target_->align(*source.target_, options); }));
  }
  std::uint64_t rows() const { return target_->rows(); }
  std::uint32_t dims() const { return target_->dims(); }
  std::string dtype() const { return std::string(name_of(target_->dtype())); }

 private:
  std::optional<apps::RegistrationTarget> target_;
};

}  // namespace

void bind_registration(nb::module_& module) {
  module.def("normals", &normals, "points"_a, nb::kw_only(), "neighbors"_a, "radius"_a.none(), "orient"_a,
             "viewpoint"_a, "skip_nonfinite"_a, "device"_a, "threads"_a, "progress"_a.none());
  module.def("register_clouds", &register_clouds, "source"_a, "target"_a, "progress"_a.none(), "options"_a);
  module.def("register_on_device", &register_on_device, "source"_a, "target"_a, "stream"_a, "progress"_a.none(),
             "options"_a);
  module.def("register_pairs", &register_pairs, "sources"_a, "targets"_a, "starts"_a, "stream"_a, "progress"_a.none(),
             "options"_a);
  nb::class_<Target>(module, "RegistrationTarget")
      .def(nb::init<const nb::object&, nb::object, const nb::kwargs&>(), "points"_a, "progress"_a.none(), "options"_a)
      .def("align", &Target::align, "source"_a, "progress"_a.none(), "options"_a)
      .def("align_target", &Target::align_target, "source"_a, "progress"_a.none(), "options"_a)
      .def_prop_ro("rows", &Target::rows)
      .def_prop_ro("dims", &Target::dims)
      .def_prop_ro("dtype", &Target::dtype);
}

}  // namespace kith::python
