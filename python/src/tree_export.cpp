// A k-d tree with one node per point, as arrays.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/tree_export.hpp>

#include <nanobind/stl/string.h>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

nb::tuple export_tree(const nb::object& points, const std::string& split, int threads) {
  const Rows rows(points, "points");
  Watch watch;
  apps::TreeExportOptions options;
  options.split = parse_split_rule(split);
  options.threads = threads;
  options.progress = watch.callback();
  const apps::InOrderTree tree = watch.run([&] { return apps::export_in_order(rows.view(), options); });
  return nb::make_tuple(numpy_int64(tree.index, {tree.index.size()}, threads),
                        numpy_int64(tree.split_dim, {tree.split_dim.size()}, threads));
}

}  // namespace

void bind_tree_export(nb::module_& module) {
  module.def("export_tree", &export_tree, "points"_a, nb::kw_only(), "split"_a = "widest", "threads"_a = 0);
}

}  // namespace kith::python
