// Pages that show clouds of NumPy.
#include "arrays.hpp"
#include "module.hpp"
#include "watched_call.hpp"

#include <kith/apps/view.hpp>
#include <kith/io/text_file.hpp>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

/// A cloud as Python gives it, and what the library borrows.
struct GivenCloud {
  std::string name;
  std::unique_ptr<Rows> points;
  std::vector<io::Column> columns;
  std::optional<apps::Pose> pose;
  std::optional<Neighbors> neighbors;
  std::uint32_t neighbors_of = 0;
};

template <typename T>
io::Column numbers_of(const std::string& name, const Values<T>& values) {
  return io::Column(name, span_of(values));
}

/// A list of texts, or numbers of one of the three types that Python makes of all others.
io::Column column_of(const std::string& name, const nb::object& values) {
  if (nb::isinstance<nb::list>(values)) {
    io::TextValues texts;
    for (const nb::handle text : values) texts.push_back(nb::cast<std::string>(text));
    return io::Column(name, std::move(texts));
  }
  if (Values<std::int64_t> whole; nb::try_cast(values, whole, false)) return numbers_of(name, whole);
  if (Values<float> single; nb::try_cast(values, single, false)) return numbers_of(name, single);
  return numbers_of(name, nb::cast<Values<double>>(values));
}

template <typename T>
Neighbors neighbors_of(const nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& indices,
                       const Values<T>& distances, std::uint32_t points) {
  const std::size_t queries = indices.shape(0), k = indices.shape(1);
  const std::span<const T> values = span_of(distances);
  return Neighbors(queries, static_cast<std::uint32_t>(k), points,
                   ValueArray<std::uint32_t>(std::span<const std::uint32_t>(indices.data(), queries * k)),
                   Distances(std::vector<T>(values.begin(), values.end())));
}

GivenCloud cloud_of(const nb::dict& given) {
  GivenCloud cloud;
  cloud.name = nb::cast<std::string>(given["name"]);
  cloud.points = std::make_unique<Rows>(given["points"], "points");
  for (const auto& [name, values] : nb::cast<nb::dict>(given["columns"])) {
    cloud.columns.push_back(column_of(nb::cast<std::string>(name), nb::borrow(values)));
  }
  if (!given["pose"].is_none()) {
    cloud.pose.emplace();
    cloud.pose->matrix = nb::cast<std::array<double, 16>>(given["pose"]);
  }
  if (!given["indices"].is_none()) {
    const auto indices =
        nb::cast<nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(given["indices"]);
    cloud.neighbors =
        neighbors_of(indices, nb::cast<Values<double>>(given["distances"]), nb::cast<std::uint32_t>(given["searched"]));
    cloud.neighbors_of = nb::cast<std::uint32_t>(given["neighbors_of"]);
  }
  return cloud;
}

std::string view_page(const nb::list& clouds, const std::string& title, const std::string& color, bool exact,
                      int threads, nb::object progress) {
  std::vector<GivenCloud> given;
  for (const nb::handle cloud : clouds) given.push_back(cloud_of(nb::cast<nb::dict>(cloud)));
  std::vector<apps::ViewedCloud> viewed;
  for (const GivenCloud& cloud : given) {
    viewed.push_back({.name = cloud.name,
                      .points = cloud.points->view(),
                      .columns = cloud.columns,
                      .pose = cloud.pose,
                      .neighbors = cloud.neighbors ? &*cloud.neighbors : nullptr,
                      .neighbors_of = cloud.neighbors_of});
  }
  Watch watch(std::move(progress));
  apps::ViewOptions options;
  options.title = title;
  options.color = color;
  options.exact = exact;
  options.threads = threads;
  options.progress = watch.callback();
  return watch.run([&] { return apps::view_page(viewed, options); });
}

}  // namespace

void bind_view(nb::module_& module) {
  module.def(
      "write_text", [](const std::string& path, const std::string& text) { io::write_text(path, text); }, "path"_a,
      "text"_a);
  module.def("view_page", &view_page, "clouds"_a, nb::kw_only(), "title"_a, "color"_a, "exact"_a, "threads"_a,
             "progress"_a.none());
}

}  // namespace kith::python
