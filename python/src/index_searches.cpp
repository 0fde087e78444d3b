// See index_searches.hpp.
#include "index_searches.hpp"

#include "any_index.hpp"

#include <algorithm>
#include <array>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

struct PointQueries {
  static Rows of(const nb::object& queries) { return Rows(queries, "queries"); }
};

template <typename T>
nb::tuple nearest_of_one(const Index& index, const T* query, std::size_t dims, std::uint32_t k,
                         const SearchOptions& options) {
  require_answer_memory(1, k, sizeof(T) + sizeof(std::uint32_t) + sizeof(std::int64_t));
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
  bind_any_index<PointQueries>(index);
  index.def("knn_one", &knn_one, "query"_a, "k"_a, "options"_a);
  index.def("radius_one", &radius_one, "query"_a, "radius"_a, "options"_a);
  index.def("count_one", &count_one, "query"_a, "radius"_a, "options"_a);
  index.def("box", &box, "lower"_a, "upper"_a, "options"_a);
  index.def("box_count", &box_count, "lower"_a, "upper"_a, "options"_a);
}

}  // namespace kith::python
