// Reads one NumPy array: rows are points; a one-dimensional array is a column of n points with one coordinate.
#include "io/numpy/npy_header.hpp"

#include "io/formats.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::io::inline v0 {

RecordLayout npy_points_layout(const NpyHeader& header, std::string_view what) {
  if (header.shape.empty()) {
    throw BadData(fmt::format("{}: holds a single number, not an array of points", what));
  }
  RecordLayout layout = npy_layout(header, what);
  if (layout.fields.empty()) {
    throw BadData(fmt::format("{}: the array has no columns, shape ({}, 0)", what, layout.rows));
  }
  return layout;
}

PointFile read_npy_points(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t size,
                          const std::string& what, const ReadOptions& options, Format format) {
  return read_records(file, npy_points_layout(read_npy_header(file, begin, size, what), what), options, format);
}

PointFile read_npy(const runtime::InputFile& file, const ReadOptions& options) {
  return read_npy_points(file, 0, file.size(), file.name(), options, Format::npy);
}

}  // namespace kith::io::inline v0
