// Reads one NumPy array: rows are points; a one-dimensional array is a column of n points with one coordinate.
#include "io/numpy/npy_header.hpp"

#include "io/formats.hpp"

#include <kith/error.hpp>
#include <kith/io/npy_rows.hpp>

#include <fmt/format.h>

#include <fstream>
#include <ios>

namespace kith::io::inline v0 {

namespace {

RecordLayout layout_of_points(const NpyHeader& header, const std::string& what) {
  if (header.shape.empty()) {
    throw BadData(fmt::format("{}: holds a single number, not an array of points", what));
  }
  RecordLayout layout = npy_layout(header, what);
  if (layout.fields.empty()) {
    throw BadData(fmt::format("{}: the array has no columns, shape ({}, 0)", what, layout.rows));
  }
  return layout;
}

}  // namespace

PointFile read_npy_points(const runtime::InputFile& file, std::uint64_t begin, std::uint64_t size,
                          const std::string& what, const ReadOptions& options, Format format) {
  const NpyHeader header = read_npy_header(file, begin, size, what);
  return read_records(file, layout_of_points(header, what), options, format);
}

PointFile read_npy(const runtime::InputFile& file, const ReadOptions& options) {
  return read_npy_points(file, 0, file.size(), file.name(), options, Format::npy);
}

std::optional<std::uint64_t> count_npy_rows(const std::string& path) {
  std::string head(kNpyMagic.size(), '\0');
  if (!std::ifstream(path, std::ios::binary).read(head.data(), static_cast<std::streamsize>(head.size())) ||
      head != kNpyMagic) {
    return {};
  }
  const runtime::InputFile file(path);
  return layout_of_points(read_npy_header(file, 0, file.size(), file.name()), file.name()).rows;
}

PointFile read_npy_rows(const std::string& path, std::uint64_t first, std::uint64_t count, const ReadOptions& options) {
  const runtime::InputFile file(path);
  const NpyHeader header = read_npy_header(file, 0, file.size(), file.name());
  RecordLayout layout = layout_of_points(header, file.name());
  if (first > layout.rows || count > layout.rows - first) {
    throw UsageError(fmt::format("{}: has {} rows, not {} from row {} on", path, layout.rows, count, first));
  }
  // In records a row's values lie side by side, in planes those of a column.
  layout.first_byte += first * (layout.order == RecordOrder::planes ? size_of(header.type) : layout.record_bytes);
  layout.rows = count;
  return read_records(file, layout, options, Format::npy);
}

}  // namespace kith::io::inline v0
