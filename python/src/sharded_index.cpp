// Shards of one process for Python: on several devices, or in a folder on the disk.
#include "arrays.hpp"
#include "module.hpp"
#include "option_words.hpp"
#include "shard_arguments.hpp"
#include "watched_call.hpp"

#include <kith/error.hpp>
#include <kith/io/point_rows.hpp>
#include <kith/shards/sharded_index.hpp>
#include <kith/shards/stored_shards.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using shards::ShardedIndex;
using shards::StoredShards;

/// What Python says of a build, by its names.
BuildOptions build_options_of(const nb::dict& given) {
  BuildOptions options;
  options.engine = parse_engine(nb::cast<std::string>(given["engine"]));
  options.metric = Metric::parse(nb::cast<std::string>(given["metric"]));
  options.metric_params = nb::cast<std::vector<double>>(given["metric_params"]);
  options.period = nb::cast<std::vector<double>>(given["period"]);
  options.leaf_size = nb::cast<std::uint32_t>(given["leaf_size"]);
  options.skip_nonfinite = nb::cast<bool>(given["skip_nonfinite"]);
  options.threads = nb::cast<int>(given["threads"]);
  return options;
}

ShardedIndex build(const nb::object& points, std::uint32_t count, const std::vector<std::string>& devices,
                   const nb::dict& given, nb::object progress) {
  const Rows rows(points, "points");
  shards::ShardedBuildOptions options{.shards = count, .build = build_options_of(given)};
  for (const std::string& device : devices) options.devices.push_back(Device::parse(device));
  Watch watch(std::move(progress));
  options.build.progress = watch.callback();
  return watch.run([&] { return ShardedIndex::build(rows.view(), options); });
}

StoredShards build_folder(const std::vector<std::string>& files, const std::string& folder, std::uint32_t count,
                          std::uint64_t memory, const nb::dict& given, const nb::object& note, nb::object progress) {
  shards::StoredBuildOptions options{.shards = count, .memory = memory, .build = build_options_of(given)};
  std::vector<std::string> notes;
  options.note = [&](const std::string& text) { notes.push_back(text); };
  Watch watch(std::move(progress));
  options.build.progress = watch.callback();
  StoredShards built = watch.run([&] {
    std::vector<io::PointRows> rows;
    for (const std::string& file : files) rows.emplace_back(file);
    return StoredShards::build(rows, folder, options);
  });
  for (const std::string& text : notes) note(text);
  return built;
}

StoredShards open_folder(const std::string& folder, std::uint64_t memory, int threads) {
  Watch watch;
  return watch.run([&] { return StoredShards::open(folder, {.memory = memory, .threads = threads}); });
}

/// Calls `search(queries, options)`, or `own(options)` for the points themselves, where `queries` is None.
template <typename Shards, typename Search, typename Own>
auto found_by(const nb::object& queries, const nb::dict& given, nb::object progress, const Search& search,
              const Own& own) {
  ShardOptions options(given);
  Watch watch(std::move(progress));
  options.report_to(watch.callback());
  if (!queries.is_none()) {
    const Rows rows(queries, "queries");
    return watch.run([&] { return search(rows.view(), options.options()); });
  }
  if constexpr (std::is_same_v<Shards, ShardedIndex>) {
    return watch.run([&] { return own(options.options()); });
  } else {
    throw UsageError("queries are missing: points of a folder of shards are not searched among themselves");
  }
}

template <typename Shards>
nb::tuple knn(const Shards& self, const nb::object& queries, std::uint32_t k, const nb::dict& options,
              nb::object progress) {
  return python_neighbors(found_by<Shards>(
      queries, options, std::move(progress), [&](PointView rows, const auto& how) { return self.knn(rows, k, how); },
      [&](const auto& how) -> WideNeighbors {
        if constexpr (requires { self.knn_self(k, how); }) return self.knn_self(k, how);
        return {};
      }));
}

template <typename Shards>
nb::tuple radius(const Shards& self, const nb::object& queries, const std::optional<Values<double>>& radii,
                 const nb::dict& options, nb::object progress) {
  const Radii within = radii_of(radii);
  return python_lists(found_by<Shards>(
      queries, options, std::move(progress),
      [&](PointView rows, const auto& how) { return self.radius(rows, within, how); },
      [&](const auto& how) -> WideNeighborLists {
        if constexpr (requires { self.radius_self(within, how); }) return self.radius_self(within, how);
        return {};
      }));
}

template <typename Shards>
nb::object count(const Shards& self, const nb::object& queries, const std::optional<Values<double>>& radii,
                 const nb::dict& options, nb::object progress) {
  const Radii within = radii_of(radii);
  return numpy_int64(found_by<Shards>(
      queries, options, std::move(progress),
      [&](PointView rows, const auto& how) { return self.count(rows, within, how); },
      [&](const auto& how) -> std::vector<std::uint64_t> {
        if constexpr (requires { self.count_self(within, how); }) return self.count_self(within, how);
        return {};
      }));
}

/// What both kinds have.
template <typename Shards>
nb::class_<Shards> bind_searches(nb::module_& module, const char* name) {
  return nb::class_<Shards>(module, name)
      .def("knn", &knn<Shards>, "queries"_a.none(), "k"_a, "options"_a, "progress"_a.none() = nb::none())
      .def("radius", &radius<Shards>, "queries"_a.none(), "radii"_a.none(), "options"_a,
           "progress"_a.none() = nb::none())
      .def("count", &count<Shards>, "queries"_a.none(), "radii"_a.none(), "options"_a, "progress"_a.none() = nb::none())
      .def("explain", [](const Shards& self) { return with_arguments(self.explain()); })
      .def_prop_ro("metric", [](const Shards& self) { return std::string(self.metric().name()); })
      .def_prop_ro("dtype", [](const Shards& self) { return std::string(name_of(self.dtype())); })
      .def_prop_ro("dims", &Shards::dims)
      .def_prop_ro("skipped", &Shards::skipped)
      .def_prop_ro("shards", [](const Shards& self) { return self.map().size(); })
      .def("__len__", &Shards::size);
}

}  // namespace

void bind_sharded_index(nb::module_& module) {
  bind_searches<ShardedIndex>(module, "ShardedIndex")
      .def_static("build", &build, "points"_a, nb::kw_only(), "shards"_a, "devices"_a, "options"_a,
                  "progress"_a.none() = nb::none())
      .def_prop_ro("devices",
                   [](const ShardedIndex& self) {
                     std::vector<std::string> names;
                     for (std::uint32_t shard = 0; shard < self.map().size(); ++shard) {
                       names.push_back(self.shard(shard).index().device().name());
                     }
                     return names;
                   })
      .def_prop_ro("memory_bytes", &ShardedIndex::memory_bytes);
  bind_searches<StoredShards>(module, "StoredShards")
      .def_static("build", &build_folder, "files"_a, "folder"_a, nb::kw_only(), "shards"_a, "memory"_a, "options"_a,
                  "note"_a, "progress"_a.none() = nb::none())
      .def_static("open", &open_folder, "folder"_a, nb::kw_only(), "memory"_a, "threads"_a)
      .def_prop_ro("folder", &StoredShards::folder)
      .def_prop_ro("file_bytes", &StoredShards::file_bytes);
}

}  // namespace kith::python
