// The searches of BitIndex and SequenceIndex: the same calls with other queries.
#pragma once

#include "arrays.hpp"
#include "module.hpp"
#include "option_words.hpp"
#include "search_request.hpp"

#include <kith/index.hpp>

#include <nanobind/stl/string.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::python {

/// What a search of objects takes of the keywords; the rest is refused.
template <typename Options>
Options object_options(const SearchOptions& asked) {
  if (asked.squared || asked.skip_nonfinite || asked.max_leaves != 0 || !asked.index_below.empty()) {
    throw nb::value_error("squared, skip_nonfinite, max_leaves and index_below are for points only");
  }
  Options options;
  options.exclude_self = asked.exclude_self;
  options.earlier_only = asked.earlier_only;
  options.max_neighbors = asked.max_neighbors;
  options.max_distance = asked.max_distance;
  options.eps = asked.eps;
  options.allowed = asked.allowed;
  options.threads = asked.threads;
  options.progress = asked.progress;
  return options;
}

template <typename View>
std::uint64_t count_of(const View& view) {
  if constexpr (requires { view.rows(); }) {
    return view.rows();
  } else {
    return view.size();
  }
}

/// `Objects` has a `view()`; none are the indexed objects themselves.
template <typename ObjectIndex, typename Objects, typename Options>
struct ObjectSearches {
  static nb::tuple knn(const ObjectIndex& index, const Objects* queries, std::uint32_t k, const nb::kwargs& keywords) {
    SearchRequest request(keywords);
    const Options options = object_options<Options>(request.options());
    require_answer_memory(queries == nullptr ? index.size() : count_of(queries->view()), k,
                          sizeof(float) + sizeof(std::uint32_t) + sizeof(std::int64_t));
    Neighbors found = request.run(
        [&] { return queries == nullptr ? index.knn_self(k, options) : index.knn(queries->view(), k, options); });
    const std::uint64_t count = found.queries();
    nb::object exact = found.exact().empty() ? nb::none() : numpy_bools(found.exact());
    nb::object indices = numpy_int64(found.indices(), {count, k}, options.threads);
    return nb::make_tuple(numpy_of(std::move(found).distances(), {count, k}), std::move(indices), std::move(exact));
  }

  static nb::tuple radius(const ObjectIndex& index, const Objects* queries, double radius, const nb::kwargs& keywords) {
    SearchRequest request(keywords);
    const Options options = object_options<Options>(request.options());
    NeighborLists found = request.run([&] {
      return queries == nullptr ? index.radius_self(radius, options) : index.radius(queries->view(), radius, options);
    });
    nb::object offsets = numpy_int64(found.offsets());
    const std::size_t count = found.indices().size();
    nb::object indices = numpy_int64(found.indices(), {count}, options.threads);
    return nb::make_tuple(numpy_of(std::move(found).distances(), {count}), std::move(indices), std::move(offsets));
  }

  static nb::object count(const ObjectIndex& index, const Objects* queries, double radius, const nb::kwargs& keywords) {
    SearchRequest request(keywords);
    const Options options = object_options<Options>(request.options());
    const std::vector<std::uint32_t> counts = request.run([&] {
      return queries == nullptr ? index.count_self(radius, options) : index.count(queries->view(), radius, options);
    });
    return numpy_int64(counts, {counts.size()}, options.threads);
  }
};

/// Saving, loading and what an index of objects says of itself.
template <typename ObjectIndex>
struct ObjectStorage {
  static LoadOptions load_options(const std::string& device, int threads, Watch& watch) {
    LoadOptions options;
    options.device = Device::parse(device);
    options.threads = threads;
    options.progress = watch.callback();
    return options;
  }

  static ObjectIndex load(const std::string& path, const std::string& device, int threads, nb::object progress) {
    Watch watch(std::move(progress));
    const LoadOptions options = load_options(device, threads, watch);
    return watch.run([&] { return ObjectIndex::load(path, options); });
  }

  static ObjectIndex from_bytes(const nb::object& content, const std::string& device, int threads) {
    Watch watch;
    const LoadOptions options = load_options(device, threads, watch);
    const Buffer buffer(content);
    return watch.run([&] { return ObjectIndex::from_bytes(buffer.bytes(), options); });
  }

  static void save(const ObjectIndex& index, const std::string& path, int threads, nb::object progress) {
    Watch watch(std::move(progress));
    const SaveOptions options{.threads = threads, .progress = watch.callback()};
    watch.run([&] { index.save(path, options); });
  }

  static nb::bytes to_bytes(const ObjectIndex& index, int threads) {
    Watch watch;
    const SaveOptions options{.threads = threads, .progress = watch.callback()};
    const std::vector<std::byte> bytes = watch.run([&] { return index.to_bytes(options); });
    return nb::bytes(bytes.data(), bytes.size());
  }

  static std::string first_violation(const ObjectIndex& index) {
    Watch watch;
    return watch.run([&] { return index.first_violation(); });
  }
};

template <typename Objects, typename Options, typename ObjectIndex>
void bind_object_index(nb::class_<ObjectIndex>& index) {
  using nb::literals::operator""_a;
  using Searches = ObjectSearches<ObjectIndex, Objects, Options>;
  using Storage = ObjectStorage<ObjectIndex>;
  index.def("knn", &Searches::knn, "queries"_a.none(), "k"_a, "options"_a);
  index.def("radius", &Searches::radius, "queries"_a.none(), "radius"_a, "options"_a);
  index.def("count", &Searches::count, "queries"_a.none(), "radius"_a, "options"_a);
  index.def_static("load", &Storage::load, "path"_a, nb::kw_only(), "device"_a = "cpu", "threads"_a = 0,
                   "progress"_a = nb::none());
  index.def_static("from_bytes", &Storage::from_bytes, "content"_a, nb::kw_only(), "device"_a = "cpu", "threads"_a = 0);
  index.def("save", &Storage::save, "path"_a, nb::kw_only(), "threads"_a = 0, "progress"_a = nb::none());
  index.def("to_bytes", &Storage::to_bytes, nb::kw_only(), "threads"_a = 0);
  index.def("first_violation", &Storage::first_violation);
  index.def("explain", [](const ObjectIndex& self) { return with_arguments(self.explain()); });
  index.def_prop_ro("size", &ObjectIndex::size);
  index.def_prop_ro("engine", [](const ObjectIndex& self) { return std::string(name_of(self.engine())); });
  index.def_prop_ro("device", [](const ObjectIndex& self) { return self.device().name(); });
  index.def_prop_ro("memory_bytes", &ObjectIndex::memory_bytes);
}

}  // namespace kith::python
