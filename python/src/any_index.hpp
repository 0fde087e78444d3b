// What every index offers to Python, whatever it holds: searches, files and facts.
#pragma once

#include "arrays.hpp"
#include "option_words.hpp"
#include "search_request.hpp"

#include <kith/index.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kith::python {

/// One radius for all queries, or one for each.
using RadiusArgument = std::variant<double, Values<double>>;

/// `Queries` are made of a Python object and have a `view()`; None stands for the indexed points themselves.
template <typename AnyIndex, typename Queries>
struct AnySearches {
  static nb::tuple knn(const AnyIndex& index, const nb::object& queries, std::uint32_t k, const nb::kwargs& keywords) {
    return with_view(queries, [&](const auto* view) {
      SearchRequest request(keywords);
      require_answer_memory(view == nullptr ? index.size() : view->rows(), k, bytes_per_neighbor(index));
      const SearchOptions& options = request.options();
      Neighbors found =
          request.run([&] { return view == nullptr ? index.knn_self(k, options) : index.knn(*view, k, options); });
      const std::uint64_t count = found.queries();
      nb::object exact = found.exact().empty() ? nb::none() : numpy_bools(found.exact());
      nb::object indices = numpy_int64(found.indices(), {count, k}, options.threads);
      return nb::make_tuple(numpy_of(std::move(found).distances(), {count, k}), std::move(indices), std::move(exact));
    });
  }

  static nb::tuple radius(const AnyIndex& index, const nb::object& queries, const RadiusArgument& radii,
                          const nb::kwargs& keywords) {
    return with_view(queries, [&](const auto* view) {
      SearchRequest request(keywords);
      const SearchOptions& options = request.options();
      NeighborLists found = request.run([&] {
        const kith::Radii wanted = radii_of(radii);
        return view == nullptr ? index.radius_self(wanted, options) : index.radius(*view, wanted, options);
      });
      nb::object offsets = numpy_int64(found.offsets());
      const std::size_t count = found.indices().size();
      nb::object indices = numpy_int64(found.indices(), {count}, options.threads);
      return nb::make_tuple(numpy_of(std::move(found).distances(), {count}), std::move(indices), std::move(offsets));
    });
  }

  static nb::object count(const AnyIndex& index, const nb::object& queries, const RadiusArgument& radii,
                          const nb::kwargs& keywords) {
    return with_view(queries, [&](const auto* view) {
      SearchRequest request(keywords);
      const SearchOptions& options = request.options();
      const std::vector<std::uint32_t> counts = request.run([&] {
        const kith::Radii wanted = radii_of(radii);
        return view == nullptr ? index.count_self(wanted, options) : index.count(*view, wanted, options);
      });
      return numpy_int64(counts, {counts.size()}, options.threads);
    });
  }

 private:
  /// Calls call(pointer to the view, null for None); what the view borrows lives as long.
  template <typename Call>
  static auto with_view(const nb::object& queries, const Call& call) {
    using View = decltype(Queries::of(queries).view());
    if (queries.is_none()) return call(static_cast<const View*>(nullptr));
    const auto& rows = Queries::of(queries);
    const View view = rows.view();
    return call(&view);
  }
  static kith::Radii radii_of(const RadiusArgument& radii) {
    if (const double* one = std::get_if<double>(&radii)) return *one;
    return span_of(std::get<Values<double>>(radii));
  }
  /// Distance and number as the library has them, and the wide number of the answer.
  static std::uint64_t bytes_per_neighbor(const AnyIndex& index) {
    std::uint64_t bytes = sizeof(float);
    if constexpr (requires { index.dtype(); }) bytes = size_of(index.dtype());
    return bytes + sizeof(std::uint32_t) + sizeof(std::int64_t);
  }
};

template <typename AnyIndex>
struct AnyStorage {
  static LoadOptions load_options(const std::string& device, int threads, bool map, Watch& watch) {
    LoadOptions options;
    options.device = Device::parse(device);
    options.threads = threads;
    options.map = map;
    options.progress = watch.callback();
    return options;
  }
  static AnyIndex load(const std::string& path, const std::string& device, int threads, bool map, nb::object progress) {
    Watch watch(std::move(progress));
    const LoadOptions options = load_options(device, threads, map, watch);
    return watch.run([&] { return AnyIndex::load(path, options); });
  }
  static AnyIndex from_bytes(const nb::object& content, const std::string& device, int threads, nb::object progress) {
    Watch watch(std::move(progress));
    const LoadOptions options = load_options(device, threads, false, watch);
    const Buffer buffer(content);
    return watch.run([&] { return AnyIndex::from_bytes(buffer.bytes(), options); });
  }
  static void save(const AnyIndex& index, const std::string& path, int threads, nb::object progress) {
    Watch watch(std::move(progress));
    const SaveOptions options{.threads = threads, .progress = watch.callback()};
    watch.run([&] { index.save(path, options); });
  }
  static nb::bytes to_bytes(const AnyIndex& index, int threads, nb::object progress) {
    Watch watch(std::move(progress));
    const SaveOptions options{.threads = threads, .progress = watch.callback()};
    const std::vector<std::byte> bytes = watch.run([&] { return index.to_bytes(options); });
    return nb::bytes(bytes.data(), bytes.size());
  }
  static std::string explain(const AnyIndex& index) { return with_arguments(index.explain()); }
  /// k is nothing in radius searches, `queries` where the points are the queries.
  static std::string explain_search(const AnyIndex& index, std::optional<std::uint32_t> k,
                                    std::optional<std::uint64_t> queries, const nb::kwargs& keywords) {
    SearchRequest request(keywords);
    return request.run([&] {
      return with_arguments(k ? index.explain_knn(*k, queries, request.options())
                              : index.explain_radius(queries, request.options()));
    });
  }
  static std::string first_violation(const AnyIndex& index) {
    Watch watch;
    return watch.run([&] { return index.first_violation(); });
  }
};

template <typename Queries, typename AnyIndex>
void bind_any_index(nb::class_<AnyIndex>& index) {
  using nb::literals::operator""_a;
  using Searches = AnySearches<AnyIndex, Queries>;
  using Storage = AnyStorage<AnyIndex>;
  index.def("knn", &Searches::knn, "queries"_a.none(), "k"_a, "options"_a);
  index.def("radius", &Searches::radius, "queries"_a.none(), "radius"_a, "options"_a);
  index.def("count", &Searches::count, "queries"_a.none(), "radius"_a, "options"_a);
  index.def_static("load", &Storage::load, "path"_a, nb::kw_only(), "device"_a = "auto", "threads"_a = 0,
                   "map"_a = false, "progress"_a = nb::none());
  index.def_static("from_bytes", &Storage::from_bytes, "content"_a, nb::kw_only(), "device"_a = "auto", "threads"_a = 0,
                   "progress"_a = nb::none());
  index.def("save", &Storage::save, "path"_a, nb::kw_only(), "threads"_a = 0, "progress"_a = nb::none());
  index.def("to_bytes", &Storage::to_bytes, nb::kw_only(), "threads"_a = 0, "progress"_a = nb::none());
  index.def("first_violation", &Storage::first_violation);
  index.def("explain", &Storage::explain);
  index.def("explain_search", &Storage::explain_search, "k"_a.none(), "queries"_a.none(), "options"_a);
  index.def_prop_ro("size", &AnyIndex::size);
  index.def_prop_ro("engine", [](const AnyIndex& self) { return std::string(name_of(self.engine())); });
  index.def_prop_ro("device", [](const AnyIndex& self) { return self.device().name(); });
  index.def_prop_ro("memory_bytes", &AnyIndex::memory_bytes);
}

/// How bits and sequences are built.
inline BuildOptions object_options(const std::string& engine, const std::string& device, std::uint32_t leaf_size,
                                   std::uint64_t expected_queries, int threads) {
  BuildOptions options;
  options.engine = parse_engine(engine);
  options.device = Device::parse(device);
  options.leaf_size = leaf_size;
  options.expected_queries = expected_queries;
  options.threads = threads;
  return options;
}

/// Objects of a class that the extension has: BitRows, Sequences.
template <typename Objects>
struct ObjectQueries {
  static const Objects& of(const nb::object& queries) { return nb::cast<const Objects&>(queries); }
};

}  // namespace kith::python
