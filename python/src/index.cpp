// Index: build, plan, what it says of its points. Its searches are in index_searches.cpp.
#include "index_searches.hpp"
#include "module.hpp"
#include "arrays.hpp"
#include "option_words.hpp"
#include "watched_call.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/io/tree_file.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

BuildOptions build_options(const std::string& engine, const std::string& device, const std::string& metric,
                           std::uint32_t leaf_size, const std::string& split, const std::string& builder,
                           std::vector<double> metric_params, std::vector<double> period,
                           std::uint64_t expected_queries, bool skip_nonfinite, int threads) {
  BuildOptions options;
  options.engine = parse_engine(engine);
  options.device = Device::parse(device);
  options.metric = Metric::parse(metric);
  options.leaf_size = leaf_size;
  options.split = parse_split_rule(split);
  options.builder = parse_builder(builder);
  options.metric_params = std::move(metric_params);
  options.period = std::move(period);
  options.expected_queries = expected_queries;
  options.skip_nonfinite = skip_nonfinite;
  options.threads = threads;
  return options;
}

Index build(nb::object points, const std::string& engine, const std::string& device, const std::string& metric,
            std::uint32_t leaf_size, const std::string& split, const std::string& builder,
            std::vector<double> metric_params, std::vector<double> period, std::uint64_t expected_queries,
            bool skip_nonfinite, int threads, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  BuildOptions options = build_options(engine, device, metric, leaf_size, split, builder, std::move(metric_params),
                                       std::move(period), expected_queries, skip_nonfinite, threads);
  options.progress = watch.callback();
  return watch.run([&] { return Index::build(rows.view(), options); });
}

/// `points` are those that a node table was made from; None for a tree in order.
Index from_tree(const std::string& path, const nb::object& points, const std::string& engine, const std::string& device,
                const std::string& metric, std::uint32_t leaf_size, const std::string& split,
                const std::string& builder, std::vector<double> metric_params, std::vector<double> period,
                std::uint64_t expected_queries, int threads, nb::object progress) {
  const std::optional<Rows> rows =
      points.is_none() ? std::nullopt : std::optional<Rows>(std::in_place, points, "points");
  Watch watch(std::move(progress));
  BuildOptions options = build_options(engine, device, metric, leaf_size, split, builder, std::move(metric_params),
                                       std::move(period), expected_queries, false, threads);
  options.progress = watch.callback();
  return watch.run([&] {
    const auto tree = io::read_tree(path);
    if (const auto* in_order = std::get_if<apps::InOrderTree>(&tree)) {
      if (rows) throw UsageError("points are for a node table; this tree holds its own");
      return Index::from_tree(*in_order, options);
    }
    if (!rows) throw UsageError("a node table holds no coordinates; give the points that it was made from");
    return Index::from_tree(std::get<apps::NodeTable>(tree), rows->view(), options);
  });
}

nb::tuple plan(std::uint64_t rows, std::uint32_t dims, const std::string& dtype, const std::string& engine,
               const std::string& device, const std::string& metric, std::uint32_t leaf_size, const std::string& split,
               const std::string& builder, std::vector<double> metric_params, std::vector<double> period,
               std::uint64_t expected_queries, int threads) {
  const BuildOptions options =
      build_options(engine, device, metric, leaf_size, split, builder, std::move(metric_params), std::move(period),
                    expected_queries, false, threads);
  Watch watch;
  const BuildPlan found =
      watch.run([&] { return Index::plan(rows, dims, dtype == "f32" ? DType::f32 : DType::f64, options); });
  return nb::make_tuple(std::string(name_of(found.engine)), found.device.name(), found.index_bytes, found.peak_bytes,
                        with_arguments(found.reason));
}

nb::object points(const Index& index, int threads) {
  Watch watch;
  return numpy_of(watch.run([&] { return index.points(threads); }));
}

/// (pattern, other names) of each metric.
std::vector<std::tuple<std::string, std::vector<std::string>>> metric_names() {
  std::vector<std::tuple<std::string, std::vector<std::string>>> table;
  for (const MetricInfo& info : metric_table()) {
    std::vector<std::string> aliases;
    for (const std::string_view alias : info.aliases) {
      if (!alias.empty()) aliases.emplace_back(alias);
    }
    table.emplace_back(info.pattern(), std::move(aliases));
  }
  return table;
}

}  // namespace

void bind_index(nb::module_& module) {
  nb::class_<Index> index(module, "Index");
  index.def_static("build", &build, "points"_a, nb::kw_only(), "engine"_a = "auto", "device"_a = "auto",
                   "metric"_a = "l2", "leaf_size"_a = 0, "split"_a = "widest", "builder"_a = "auto",
                   "metric_params"_a = std::vector<double>(), "period"_a = std::vector<double>(),
                   "expected_queries"_a = 0, "skip_nonfinite"_a = false, "threads"_a = 0, "progress"_a = nb::none());
  index.def_static("from_tree", &from_tree, "path"_a, "points"_a = nb::none(), nb::kw_only(), "engine"_a = "auto",
                   "device"_a = "auto", "metric"_a = "l2", "leaf_size"_a = 0, "split"_a = "widest",
                   "builder"_a = "auto", "metric_params"_a = std::vector<double>(), "period"_a = std::vector<double>(),
                   "expected_queries"_a = 0, "threads"_a = 0, "progress"_a = nb::none());
  bind_searches(index);
  index.def("points", &points, "threads"_a = 0);
  index.def_prop_ro("dims", &Index::dims);
  index.def_prop_ro("dtype", [](const Index& self) { return std::string(name_of(self.dtype())); });
  index.def_prop_ro("metric", [](const Index& self) { return self.metric().name(); });
  index.def_prop_ro("metric_params", &Index::metric_params);
  index.def_prop_ro("holds_points", &Index::holds_points);
  index.def_prop_ro("skipped", &Index::skipped);

  module.def("metric_names", &metric_names);
  module.def("plan", &plan, "rows"_a, "dims"_a, "dtype"_a, nb::kw_only(), "engine"_a = "auto", "device"_a = "auto",
             "metric"_a = "l2", "leaf_size"_a = 0, "split"_a = "widest", "builder"_a = "auto",
             "metric_params"_a = std::vector<double>(), "period"_a = std::vector<double>(), "expected_queries"_a = 0,
             "threads"_a = 0);
}

}  // namespace kith::python
