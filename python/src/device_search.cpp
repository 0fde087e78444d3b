// Searches whose queries and answers lie in the memory of the GPU that holds the index. Arrays are addresses here; the
// Python code knows whose they are and keeps them alive.
#include "arrays.hpp"
#include "module.hpp"

#include <kith/device_search.hpp>

#include <fmt/format.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using Address = std::uintptr_t;

template <typename T>
T* at(Address address) {
  return reinterpret_cast<T*>(address);
}

DeviceSearchOptions options_from(const nb::kwargs& keywords) {
  DeviceSearchOptions options;
  for (const auto& [key, value] : keywords) {
    const auto name = nb::cast<std::string_view>(key);
    if (name == "stream") {
      options.stream = at<void>(nb::cast<Address>(value));
    } else if (name == "squared") {
      options.squared = nb::cast<bool>(value);
    } else if (name == "exclude_self") {
      options.exclude_self = nb::cast<bool>(value);
    } else if (name == "earlier_only") {
      options.earlier_only = nb::cast<bool>(value);
    } else if (name == "max_distance") {
      options.max_distance = nb::cast<double>(value);
    } else if (name == "eps") {
      options.eps = nb::cast<double>(value);
    } else if (name == "max_leaves") {
      options.max_leaves = nb::cast<std::uint32_t>(value);
    } else if (name == "allowed") {
      options.allowed = at<const std::uint64_t>(nb::cast<Address>(value));
    } else if (name == "index_below") {
      options.index_below = at<const std::uint32_t>(nb::cast<Address>(value));
    } else {
      throw nb::type_error(fmt::format("a search of arrays on a GPU has no argument \"{}\"", name).c_str());
    }
  }
  return options;
}

/// Rows of bits in the memory of a GPU, as DeviceRows.
struct DeviceBits {
  BitView view;
};

/// Queries on the GPU, or nothing where the points are the queries.
template <typename Search>
auto rows_of(const nb::object& queries) {
  using Rows = std::conditional_t<std::is_same_v<Search, DeviceSearch>, DeviceRows, DeviceBits>;
  return queries.is_none() ? nullptr : nb::cast<const Rows*>(queries);
}

/// One radius for all, unless there is an array of them.
DeviceRadii radii_at(double radius, Address radii) {
  if (radii == 0) return radius;
  return at<const double>(radii);
}

DeviceDistances distances_at(const DeviceSearch& device, Address distances) {
  if (device.index().dtype() == DType::f32) return at<float>(distances);
  return at<double>(distances);
}
DeviceDistances distances_at(const DeviceBitSearch&, Address distances) { return at<float>(distances); }

template <typename Search>
void knn(const Search& device, const nb::object& queries, std::uint32_t k, Address indices, Address distances,
         Address exact, const nb::kwargs& keywords) {
  const auto* rows = rows_of<Search>(queries);
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  const DeviceDistances out = distances_at(device, distances);
  if (rows != nullptr) {
    device.knn(rows->view, k, at<std::int64_t>(indices), out, options, at<std::uint8_t>(exact));
  } else {
    device.knn_self(k, at<std::int64_t>(indices), out, options, at<std::uint8_t>(exact));
  }
}

template <typename Search>
void count(const Search& device, const nb::object& queries, double radius, Address radii, Address counts,
           const nb::kwargs& keywords) {
  const auto* rows = rows_of<Search>(queries);
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  if (rows != nullptr) {
    device.count(rows->view, radii_at(radius, radii), at<std::uint32_t>(counts), options);
  } else {
    device.count_self(radii_at(radius, radii), at<std::uint32_t>(counts), options);
  }
}

template <typename Search>
void offsets(const Search& device, Address counts, std::uint64_t lists, Address sums, const nb::kwargs& keywords) {
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  device.offsets(at<const std::uint32_t>(counts), lists, at<std::uint64_t>(sums), options);
}

template <typename Search>
void widen(const Search& device, Address numbers, std::uint64_t count, Address wide, const nb::kwargs& keywords) {
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  device.widen(at<const std::uint32_t>(numbers), count, at<std::int64_t>(wide), options);
}

template <typename Search>
void pack(const Search& device, Address flags, std::uint64_t count, Address words, const nb::kwargs& keywords) {
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  device.pack(at<const std::uint8_t>(flags), count, at<std::uint64_t>(words), options);
}

template <typename Search>
void radius(const Search& device, const nb::object& queries, double radius, Address radii, Address sums,
            Address indices, Address distances, const nb::kwargs& keywords) {
  const auto* rows = rows_of<Search>(queries);
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  const DeviceDistances out = distances_at(device, distances);
  if (rows != nullptr) {
    device.radius(rows->view, radii_at(radius, radii), at<const std::uint64_t>(sums), at<std::int64_t>(indices), out,
                  options);
  } else {
    device.radius_self(radii_at(radius, radii), at<const std::uint64_t>(sums), at<std::int64_t>(indices), out, options);
  }
}

void box_count(const DeviceSearch& device, const DeviceRows& lower, const DeviceRows& upper, Address counts,
               const nb::kwargs& keywords) {
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  device.box_count(lower.view, upper.view, at<std::uint32_t>(counts), options);
}

void box(const DeviceSearch& device, const DeviceRows& lower, const DeviceRows& upper, Address sums, Address indices,
         const nb::kwargs& keywords) {
  const DeviceSearchOptions options = options_from(keywords);
  const nb::gil_scoped_release released;
  device.box(lower.view, upper.view, at<const std::uint64_t>(sums), at<std::uint32_t>(indices), options);
}

template <typename Search>
nb::class_<Search> bind_searches(nb::module_& module, const char* name) {
  return nb::class_<Search>(module, name)
      .def("knn", &knn<Search>, "queries"_a.none(), "k"_a, "indices"_a, "distances"_a, "exact"_a, "options"_a)
      .def("count", &count<Search>, "queries"_a.none(), "radius"_a, "radii"_a, "counts"_a, "options"_a)
      .def("offsets", &offsets<Search>, "counts"_a, "lists"_a, "offsets"_a, "options"_a)
      .def("widen", &widen<Search>, "numbers"_a, "count"_a, "wide"_a, "options"_a)
      .def("pack", &pack<Search>, "flags"_a, "count"_a, "words"_a, "options"_a)
      .def("radius", &radius<Search>, "queries"_a.none(), "radius"_a, "radii"_a, "offsets"_a, "indices"_a,
           "distances"_a, "options"_a);
}

}  // namespace

void bind_device_search(nb::module_& module) {
  bind_searches<DeviceSearch>(module, "DeviceSearch")
      .def(nb::init<Index>(), "index"_a)
      .def("box_count", &box_count, "lower"_a, "upper"_a, "counts"_a, "options"_a)
      .def("box", &box, "lower"_a, "upper"_a, "offsets"_a, "indices"_a, "options"_a);
  bind_searches<DeviceBitSearch>(module, "DeviceBitSearch").def(nb::init<BitIndex>(), "index"_a);
  nb::class_<DeviceBits>(module, "DeviceBits")
      .def(
          "__init__",
          [](DeviceBits* self, Address address, std::uint64_t rows, std::uint32_t bits, std::int64_t row_bytes) {
            new (self) DeviceBits{BitView(at<const std::uint8_t>(address), rows, bits, row_bytes)};
          },
          "address"_a, "rows"_a, "bits"_a, "row_bytes"_a);
}

}  // namespace kith::python
