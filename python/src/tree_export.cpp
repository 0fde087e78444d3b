// Balanced k-d trees with one node per point: of NumPy's arrays, and of arrays in the memory of a GPU by their
// addresses.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/tree_export_on_device.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using Address = std::uintptr_t;

apps::TreeExportOptions options_of(const std::string& split, const std::string& middle, bool unique,
                                   bool skip_nonfinite, int threads, Watch& watch) {
  apps::TreeExportOptions options;
  options.split = parse_split_rule(split);
  options.middle = apps::parse_middle(middle);
  options.unique = unique;
  options.skip_nonfinite = skip_nonfinite;
  options.threads = threads;
  options.progress = watch.callback();
  return options;
}

nb::tuple export_tree(const nb::object& points, const std::string& layout, const std::string& device,
                      const std::string& split, const std::string& middle, bool unique, bool skip_nonfinite,
                      int threads, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  apps::TreeExportOptions options = options_of(split, middle, unique, skip_nonfinite, threads, watch);
  options.device = Device::parse(device);
  const auto numbers = [&](const std::vector<std::uint32_t>& values) {
    return numpy_int64(values, {values.size()}, threads);
  };
  if (layout == "nodes") {
    const apps::NodeTable table = watch.run([&] { return apps::export_node_table(rows.view(), options); });
    return nb::make_tuple(
        nb::make_tuple(numbers(table.point), numbers(table.split_dim), numbers(table.less), numbers(table.greater)),
        table.root);
  }
  apps::InOrderTree tree = watch.run([&] { return apps::export_in_order(rows.view(), options); });
  return nb::make_tuple(nb::make_tuple(numbers(tree.index), numpy_of(std::move(tree.points)), numbers(tree.split_dim)),
                        0);
}

nb::tuple export_tree_on_device(const DeviceRows& points, Address point, Address split_dim, Address less,
                                Address greater, Address coordinates, Address stream, const std::string& split,
                                const std::string& middle, bool unique, bool skip_nonfinite, int threads,
                                nb::object progress) {
  Watch watch(std::move(progress));
  apps::DeviceTreeOptions options{options_of(split, middle, unique, skip_nonfinite, threads, watch)};
  options.stream = reinterpret_cast<void*>(stream);
  const auto numbers = [](Address address) { return reinterpret_cast<std::uint32_t*>(address); };
  const apps::DeviceTreeArrays arrays{numbers(point), numbers(split_dim), numbers(less), numbers(greater),
                                      reinterpret_cast<void*>(coordinates)};
  const apps::TreeOnDevice tree = watch.run([&] { return apps::export_tree_on_device(points.view, arrays, options); });
  return nb::make_tuple(tree.nodes, tree.root);
}

}  // namespace

void bind_tree_export(nb::module_& module) {
  module.def("export_tree", &export_tree, "points"_a, "layout"_a, "device"_a, nb::kw_only(), "split"_a, "middle"_a,
             "unique"_a, "skip_nonfinite"_a, "threads"_a, "progress"_a.none());
  module.def("export_tree_on_device", &export_tree_on_device, "points"_a, "point"_a, "split_dim"_a, "less"_a,
             "greater"_a, "coordinates"_a, "stream"_a, nb::kw_only(), "split"_a, "middle"_a, "unique"_a,
             "skip_nonfinite"_a, "threads"_a, "progress"_a.none());
}

}  // namespace kith::python
