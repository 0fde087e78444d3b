// Points from files, to files and made up.
#include "arrays.hpp"
#include "module.hpp"
#include "option_words.hpp"
#include "watched_call.hpp"

#include <kith/apps/generate.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/write_points.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;
using Names = std::vector<std::string>;

std::optional<DType> dtype_named(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (*name == "f32") return DType::f32;
  if (*name == "f64") return DType::f64;
  throw nb::value_error(fmt::format("dtype must be f32 or f64, not \"{}\"", *name).c_str());
}

char one_character(const std::string& delimiter) {
  if (delimiter.empty()) return 0;
  if (delimiter.size() != 1) throw nb::value_error("delimiter must be one character");
  return delimiter[0];
}

char decimal_named(const std::string& name) {
  if (name.empty() || name == "auto") return 0;
  if (name == "point" || name == ".") return '.';
  if (name == "comma" || name == ",") return ',';
  throw nb::value_error(fmt::format("decimal must be \".\" or \",\", not \"{}\"", name).c_str());
}

nb::dict read_points(const std::string& path, const std::string& format, const std::optional<std::string>& dtype,
                     Names columns, std::string label, Names extras, const std::string& delimiter,
                     const std::string& decimal, std::optional<bool> header, bool missing_as_nan, std::string array,
                     std::string layout, int threads, nb::object progress) {
  Watch watch(std::move(progress));
  io::ReadOptions options;
  options.format = io::parse_format(format);
  options.dtype = dtype_named(dtype);
  options.columns = std::move(columns);
  options.label = std::move(label);
  options.extras = std::move(extras);
  options.delimiter = one_character(delimiter);
  options.decimal = decimal_named(decimal);
  options.header = header;
  options.missing_as_nan = missing_as_nan;
  options.array = std::move(array);
  options.layout = std::move(layout);
  options.threads = threads;
  options.progress = watch.callback();
  io::PointFile file = watch.run([&] { return io::read_points(path, options); });
  nb::dict result;
  result["format"] = std::string(io::name_of(file.format));
  result["columns"] = file.columns;
  result["notes"] = with_arguments(file.notes);
  if (file.labels) {
    const std::vector<std::uint32_t>& codes = file.labels->codes;
    result["labels"] = nb::make_tuple(numpy_int64(codes, {codes.size()}, threads), file.labels->names);
  } else {
    result["labels"] = nb::none();
  }
  result["extras"] = file.extras.dims() == 0 ? nb::none() : numpy_of(std::move(file.extras));
  result["extra_columns"] = file.extra_columns;
  result["points"] = numpy_of(std::move(file.points));
  return result;
}

/// `codes` and `names` are a label for each row, as Labels holds them.
void write_points(const std::string& path, const nb::object& points, const std::string& format, Names columns,
                  const std::optional<Values<std::uint32_t>>& codes, Names names, bool ascii, nb::object progress) {
  const Rows rows(points, "points");
  Watch watch(std::move(progress));
  io::Labels labels;
  io::WriteOptions options;
  options.format = io::parse_format(format);
  options.columns = std::move(columns);
  options.ascii = ascii;
  options.progress = watch.callback();
  if (codes) {
    const std::span<const std::uint32_t> numbers = span_of(*codes);
    if (numbers.size() != rows.view().rows()) throw nb::value_error("labels: one for each point is needed");
    for (const std::uint32_t code : numbers) {
      if (code >= names.size()) throw nb::value_error("labels: a code without a name");
    }
    labels = {{numbers.begin(), numbers.end()}, std::move(names)};
    options.labels = &labels;
  }
  watch.run([&] { io::write_points(path, rows.view(), options); });
}

nb::tuple generate(const std::string& shape, std::uint64_t points, std::uint32_t dims, std::uint64_t seed,
                   const std::optional<std::string>& dtype, std::uint32_t classes, int threads, nb::object progress) {
  Watch watch(std::move(progress));
  apps::GenerateOptions options;
  options.shape = apps::parse_shape(shape);
  options.points = points;
  options.dims = dims;
  options.seed = seed;
  options.dtype = dtype_named(dtype).value_or(DType::f32);
  options.classes = classes;
  options.threads = threads;
  options.progress = watch.callback();
  apps::Generated made = watch.run([&] { return apps::generate(options); });
  nb::object labels = made.labels.empty() ? nb::none() : numpy_int64(made.labels, {made.labels.size()}, threads);
  return nb::make_tuple(numpy_of(std::move(made.points)), std::move(labels));
}

}  // namespace

void bind_point_files(nb::module_& module) {
  module.def("read_points", &read_points, "path"_a, nb::kw_only(), "format"_a = "auto", "dtype"_a = nb::none(),
             "columns"_a = Names(), "label"_a = "", "extras"_a = Names(), "delimiter"_a = "", "decimal"_a = "",
             "header"_a = nb::none(), "missing_as_nan"_a = false, "array"_a = "", "layout"_a = "", "threads"_a = 0,
             "progress"_a = nb::none());
  module.def("generate", &generate, "shape"_a, "points"_a, "dims"_a, nb::kw_only(), "seed"_a = 1,
             "dtype"_a = nb::none(), "classes"_a = 10, "threads"_a = 0, "progress"_a = nb::none());
  module.def("write_points", &write_points, "path"_a, "points"_a, nb::kw_only(), "format"_a = "auto",
             "columns"_a = Names(), "codes"_a = nb::none(), "names"_a = Names(), "ascii"_a = false,
             "progress"_a = nb::none());
}

}  // namespace kith::python
