// What kith.spatial asks an index of f64 points for, in the shapes that its callers expect.
#include "arrays.hpp"
#include "module.hpp"
#include "nearby_parts.hpp"
#include "object_items.hpp"
#include "python_numbers.hpp"
#include "thread_count.hpp"
#include "watched_call.hpp"

#include <kith/index.hpp>

#include <nanobind/stl/variant.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

constexpr std::uint64_t kQueriesAtOnce = 1 << 14;
constexpr std::uint64_t kListsAtOnce = 1 << 10;
constexpr std::size_t kShortList = 64;

/// One radius for all queries, or one for each.
using Radii = std::variant<double, Values<double>>;

Rows f64_rows(const nb::object& queries) {
  Rows rows(queries, "queries");
  if (rows.view().dtype() != DType::f64) throw nb::type_error("queries must be float64");
  return rows;
}

/// Calls work(first, end) for parts of [0, count), each once, on so many threads.
template <typename Work>
void in_parts(std::uint64_t count, std::uint64_t part, int threads, Work&& work) {
  std::atomic<std::uint64_t> next{0};
  const auto help = [&] {
    for (std::uint64_t first; (first = next.fetch_add(part)) < count;) work(first, std::min(first + part, count));
  };
  const std::uint64_t parts = (count + part - 1) / part;
  const std::uint64_t cores = thread_count(threads);
  std::vector<std::jthread> helpers;
  for (std::uint64_t i = 1; i < std::min(parts, cores); ++i) helpers.emplace_back(help);
  help();
}

/// Different numbers in ascending order. In short lists each counts those below it, which has no branch on the numbers.
void copy_ascending(std::span<const std::uint32_t> from, std::uint32_t* to) {
  if (from.size() > kShortList) {
    std::copy(from.begin(), from.end(), to);
    std::sort(to, to + from.size());
    return;
  }
  for (const std::uint32_t number : from) {
    std::uint32_t below = 0;
    for (const std::uint32_t other : from) below += other < number ? 1 : 0;
    to[below] = number;
  }
}

/// Copies the lists behind each other, each ascending if asked for.
void copy_lists(const NeighborLists& lists, bool ascending, int threads, std::vector<std::uint32_t>& numbers) {
  if (!ascending) {
    numbers.assign(lists.indices().begin(), lists.indices().end());
    return;
  }
  numbers.resize(lists.indices().size());
  in_parts(lists.queries(), kListsAtOnce, threads, [&](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t q = first; q < end; ++q) {
      const std::uint64_t start = lists.offsets()[q];
      copy_ascending(lists.indices().subspan(start, lists.count(q)), numbers.data() + start);
    }
  });
}

NeighborLists within(const Index& index, const NearbyParts& parts, const Radii& radii, const SearchOptions& options) {
  if (const double* one = std::get_if<double>(&radii)) return index.radius(parts.rows(), *one, options);
  const Values<double>& each = std::get<Values<double>>(radii);
  std::vector<double> chosen;
  chosen.reserve(parts.numbers().size());
  for (const std::uint32_t q : parts.numbers()) chosen.push_back(each.data()[q]);
  return index.radius(parts.rows(), chosen, options);
}

nb::object list_of(std::span<const std::uint32_t> numbers, SharedNumbers& shared) {
  nb::object list = nb::steal(PyList_New(static_cast<Py_ssize_t>(numbers.size())));
  if (!list.is_valid()) throw nb::python_error();
  Py_ssize_t place = 0;
  for (const std::uint32_t number : numbers) put_into_list(list.ptr(), place++, shared[number]);
  return list;
}

/// The points within the radius of one query.
nb::object ball_list(const Index& index, const OneQuery& query, double radius, bool ascending) {
  const PointView row = view_of(query);
  Watch watch;
  SearchOptions options;
  options.threads = 1;
  options.progress = watch.callback();
  const NeighborLists found = watch.run([&] { return index.radius(row, radius, options); });
  std::vector<std::uint32_t> numbers;
  copy_lists(found, ascending, 1, numbers);
  SharedNumbers shared(0);
  return list_of(numbers, shared);
}

/// A list of the points within the radius for each query.
nb::object ball_lists(const Index& index, const nb::object& queries, const Radii& radii, bool ascending, int threads) {
  const Rows rows = f64_rows(queries);
  const std::uint64_t count = rows.view().rows();
  if (const auto* each = std::get_if<Values<double>>(&radii); each != nullptr && each->size() != count) {
    throw nb::value_error("one radius is needed for each query");
  }
  Watch watch;
  SearchOptions options;
  options.threads = threads;
  options.progress = watch.callback();
  nb::object lists = nb::steal(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!lists.is_valid()) throw nb::python_error();
  SharedNumbers shared(count < index.size() / 64 ? 0 : index.size());
  const WithoutCollector without_collector;
  NearbyParts parts(rows.view(), kQueriesAtOnce);
  std::vector<std::uint32_t> numbers;
  while (parts.next()) {
    const NeighborLists found = watch.run([&] {
      NeighborLists lists_of_part = within(index, parts, radii, options);
      copy_lists(lists_of_part, ascending, threads, numbers);
      return lists_of_part;
    });
    for (std::size_t i = 0; i < parts.numbers().size(); ++i) {
      const std::span<const std::uint32_t> mine = std::span(numbers).subspan(found.offsets()[i], found.count(i));
      put_into_list(lists.ptr(), static_cast<Py_ssize_t>(parts.numbers()[i]), list_of(mine, shared).release().ptr());
    }
  }
  return lists;
}

struct FoundPair {
  std::uint32_t first;
  std::uint32_t second;
};

/// All pairs of points within the radius, the smaller number first, in ascending order.
std::vector<FoundPair> pairs_within(const Index& index, double radius, const SearchOptions& options) {
  const NeighborLists found = index.radius_self(radius, options);
  std::vector<std::uint64_t> starts(index.size() + 1, 0);
  for (const std::uint32_t first : found.indices()) ++starts[first + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<FoundPair> pairs(found.indices().size());
  for (std::uint64_t second = 0; second < found.queries(); ++second) {
    for (std::uint64_t rank = 0; rank < found.count(second); ++rank) {
      const std::uint32_t first = found.index(second, rank);
      pairs[starts[first]++] = {first, static_cast<std::uint32_t>(second)};
    }
  }
  return pairs;
}

nb::object set_of(std::span<const FoundPair> pairs, std::uint64_t points) {
  nb::object set = nb::steal(PySet_New(nullptr));
  if (!set.is_valid()) throw nb::python_error();
  SharedNumbers shared(points);
  const WithoutCollector without_collector;
  for (const FoundPair& pair : pairs) {
    const nb::object tuple = nb::steal(PyTuple_New(2));
    if (!tuple.is_valid()) throw nb::python_error();
    put_into_tuple(tuple.ptr(), 0, shared[pair.first]);
    put_into_tuple(tuple.ptr(), 1, shared[pair.second]);
    if (PySet_Add(set.ptr(), tuple.ptr()) != 0) throw nb::python_error();
  }
  return set;
}

/// A set of tuples, or an array of shape (pairs, 2).
nb::object pairs(const Index& index, double radius, bool as_set) {
  Watch watch;
  SearchOptions options;
  options.earlier_only = true;
  options.progress = watch.callback();
  const std::vector<FoundPair> found = watch.run([&] { return pairs_within(index, radius, options); });
  if (as_set) return set_of(found, index.size());
  const FreshArray<std::int64_t> array({found.size(), 2});
  std::int64_t* next = array.values;
  for (const FoundPair& pair : found) {
    *next++ = pair.first;
    *next++ = pair.second;
  }
  return array.array;
}

}  // namespace

void bind_spatial_searches(nb::module_& module) {
  module.def("ball_lists", &ball_lists, "index"_a, "queries"_a, "radii"_a, "ascending"_a, "threads"_a);
  module.def("ball_list", &ball_list, "index"_a, "query"_a, "radius"_a, "ascending"_a);
  module.def("pairs", &pairs, "index"_a, "radius"_a, "as_set"_a);
}

}  // namespace kith::python
