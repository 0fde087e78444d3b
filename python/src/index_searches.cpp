// See index_searches.hpp.
#include "index_searches.hpp"

#include "arrays.hpp"
#include "search_request.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

/// One radius for all queries, or one for each.
using Radii = std::variant<double, Values<double>>;

/// Queries, or nothing where the points are the queries.
std::optional<Rows> queries_of(const nb::object& queries) {
  if (queries.is_none()) return std::nullopt;
  return std::optional<Rows>(std::in_place, queries, "queries");
}

/// Distance and number as the library has them, and the wide number of the answer.
std::uint64_t bytes_per_neighbor(const Index& index) {
  return size_of(index.dtype()) + sizeof(std::uint32_t) + sizeof(std::int64_t);
}

nb::tuple knn(const Index& index, const nb::object& queries, std::uint32_t k, const nb::kwargs& keywords) {
  const std::optional<Rows> rows = queries_of(queries);
  SearchRequest request(keywords);
  require_answer_memory(rows ? rows->view().rows() : index.size(), k, bytes_per_neighbor(index));
  Neighbors found = request.run(
      [&] { return rows ? index.knn(rows->view(), k, request.options()) : index.knn_self(k, request.options()); });
  const std::uint64_t count = found.queries();
  nb::object exact = found.exact().empty() ? nb::none() : numpy_bools(found.exact());
  nb::object indices = numpy_int64(found.indices(), {count, k}, request.options().threads);
  return nb::make_tuple(numpy_of(std::move(found).distances(), {count, k}), std::move(indices), std::move(exact));
}

template <typename T>
nb::tuple nearest_of_one(const Index& index, const T* query, std::size_t dims, std::uint32_t k,
                         const SearchOptions& options) {
  require_answer_memory(1, k, bytes_per_neighbor(index));
  const FreshArray<T> distances({k});
  const FreshArray<std::int64_t> wide({k});
  std::array<std::uint32_t, 64> few;
  std::vector<std::uint32_t> many(k > few.size() ? k : 0);
  const std::span<std::uint32_t> indices(many.empty() ? few.data() : many.data(), k);
  index.knn_one(std::span<const T>(query, dims), indices, {distances.values, k}, options);
  std::copy(indices.begin(), indices.end(), wide.values);
  return nb::make_tuple(distances.array, wide.array);
}

/// Keeps the GIL: a query takes about as long as giving it away and taking it back.
nb::tuple knn_one(const Index& index, const OneQuery& query, std::uint32_t k, const nb::kwargs& keywords) {
  const SearchRequest request(keywords);
  const std::size_t dims = query.shape(0);
  if (query.dtype() == nb::dtype<float>()) {
    return nearest_of_one(index, static_cast<const float*>(query.data()), dims, k, request.options());
  }
  if (query.dtype() == nb::dtype<double>()) {
    return nearest_of_one(index, static_cast<const double*>(query.data()), dims, k, request.options());
  }
  throw nb::type_error("a query must be float32 or float64");
}

template <typename T>
nb::object copy_of(std::span<const T> values) {
  const FreshArray<T> copy({values.size()});
  std::copy(values.begin(), values.end(), copy.values);
  return copy.array;
}

nb::tuple radius_one(const Index& index, const OneQuery& query, double radius, const nb::kwargs& keywords) {
  SearchRequest request(keywords);
  request.use_one_thread();
  const PointView row = view_of(query);
  const NeighborLists found = request.run([&] { return index.radius(row, radius, request.options()); });
  const FreshArray<std::int64_t> indices({found.indices().size()});
  std::copy(found.indices().begin(), found.indices().end(), indices.values);
  const Distances& distances = found.distances();
  return nb::make_tuple(
      distances.dtype() == DType::f32 ? copy_of(distances.values<float>()) : copy_of(distances.values<double>()),
      indices.array);
}

std::uint32_t count_one(const Index& index, const OneQuery& query, double radius, const nb::kwargs& keywords) {
  SearchRequest request(keywords);
  request.use_one_thread();
  const PointView row = view_of(query);
  return request.run([&] { return index.count(row, radius, request.options()); }).front();
}

nb::tuple radius(const Index& index, const nb::object& queries, const Radii& radii, const nb::kwargs& keywords) {
  const std::optional<Rows> rows = queries_of(queries);
  SearchRequest request(keywords);
  NeighborLists found = request.run([&] {
    if (const double* one = std::get_if<double>(&radii)) {
      return rows ? index.radius(rows->view(), *one, request.options()) : index.radius_self(*one, request.options());
    }
    const std::span<const double> each = span_of(std::get<Values<double>>(radii));
    return rows ? index.radius(rows->view(), each, request.options()) : index.radius_self(each, request.options());
  });
  nb::object offsets = numpy_int64(found.offsets());
  nb::object indices = numpy_int64(found.indices(), {found.indices().size()}, request.options().threads);
  const std::size_t count = found.indices().size();
  return nb::make_tuple(numpy_of(std::move(found).distances(), {count}), std::move(indices), std::move(offsets));
}

nb::object count(const Index& index, const nb::object& queries, const Radii& radii, const nb::kwargs& keywords) {
  const std::optional<Rows> rows = queries_of(queries);
  SearchRequest request(keywords);
  const std::vector<std::uint32_t> counts = request.run([&] {
    if (const double* one = std::get_if<double>(&radii)) {
      return rows ? index.count(rows->view(), *one, request.options()) : index.count_self(*one, request.options());
    }
    const std::span<const double> each = span_of(std::get<Values<double>>(radii));
    return rows ? index.count(rows->view(), each, request.options()) : index.count_self(each, request.options());
  });
  return numpy_int64(counts, {counts.size()}, request.options().threads);
}

nb::tuple box(const Index& index, const nb::object& lower, const nb::object& upper, const nb::kwargs& keywords) {
  const Rows low(lower, "lower");
  const Rows high(upper, "upper");
  SearchRequest request(keywords);
  const PointLists found = request.run([&] { return index.box(low.view(), high.view(), request.options()); });
  return nb::make_tuple(numpy_int64(found.indices(), {found.indices().size()}, request.options().threads),
                        numpy_int64(found.offsets()));
}

nb::object box_count(const Index& index, const nb::object& lower, const nb::object& upper, const nb::kwargs& keywords) {
  const Rows low(lower, "lower");
  const Rows high(upper, "upper");
  SearchRequest request(keywords);
  const std::vector<std::uint32_t> counts =
      request.run([&] { return index.box_count(low.view(), high.view(), request.options()); });
  return numpy_int64(counts, {counts.size()}, request.options().threads);
}

}  // namespace

void bind_searches(nb::class_<Index>& index) {
  index.def("knn", &knn, "queries"_a.none(), "k"_a, "options"_a);
  index.def("knn_one", &knn_one, "query"_a, "k"_a, "options"_a);
  index.def("radius_one", &radius_one, "query"_a, "radius"_a, "options"_a);
  index.def("count_one", &count_one, "query"_a, "radius"_a, "options"_a);
  index.def("radius", &radius, "queries"_a.none(), "radius"_a, "options"_a);
  index.def("count", &count, "queries"_a.none(), "radius"_a, "options"_a);
  index.def("box", &box, "lower"_a, "upper"_a, "options"_a);
  index.def("box_count", &box_count, "lower"_a, "upper"_a, "options"_a);
}

}  // namespace kith::python
