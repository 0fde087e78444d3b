// Points of NumPy moved by a pose, and poses in files.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/transform.hpp>
#include <kith/io/pose_file.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

apps::Pose pose_of(const std::vector<double>& numbers) {
  apps::Pose pose;
  if (numbers.size() != pose.matrix.size()) throw UsageError("a pose has 16 numbers");
  std::copy(numbers.begin(), numbers.end(), pose.matrix.begin());
  return pose;
}

std::vector<double> numbers_of(const apps::Pose& pose) { return {pose.matrix.begin(), pose.matrix.end()}; }

nb::object transform(const nb::object& points, const std::vector<double>& pose, bool inverse, bool directions,
                     bool skip_nonfinite, const std::string& device, int threads, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  const apps::TransformOptions options{skip_nonfinite, Device::parse(device), threads, watch.callback()};
  const apps::Pose given = pose_of(pose);
  PointSet moved = watch.run([&] {
    const apps::Pose applied = inverse ? apps::inverse(given) : given;
    return directions ? apps::turn_directions(rows.view(), applied, options)
                      : apps::transform(rows.view(), applied, options);
  });
  return numpy_of(std::move(moved));
}

}  // namespace

void bind_transform(nb::module_& module) {
  module.def("transform", &transform, "points"_a, "pose"_a, nb::kw_only(), "inverse"_a, "directions"_a,
             "skip_nonfinite"_a, "device"_a, "threads"_a, "progress"_a.none());
  module.def(
      "read_pose", [](const std::string& path) { return numbers_of(io::read_pose(path)); }, "path"_a);
  module.def(
      "write_pose",
      [](const std::string& path, const std::vector<double>& pose) { io::write_pose(path, pose_of(pose)); }, "path"_a,
      "pose"_a);
}

}  // namespace kith::python
