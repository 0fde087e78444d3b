// Feeds arbitrary bytes to a reader: it may return or throw a kith::Error, anything else is a bug.
#pragma once

#include "io/formats.hpp"
#include "runtime/input_file.hpp"

#include <kith/error.hpp>
#include <kith/io/table.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace kith::fuzz {

/// The size of the input chooses the options, so that seeds stay plain files.
inline io::ReadOptions options_for(std::size_t size) {
  io::ReadOptions options;
  options.threads = 1;
  if (size % 3 == 1) options.dtype = DType::f32;
  if (size % 3 == 2) options.dtype = DType::f64;
  if (size % 5 == 1) options.label = "1";
  if (size % 5 == 2) options.columns = {"2", "1", "2"};
  if (size % 7 == 1) options.missing_as_nan = true;
  return options;
}

template <typename Read>
int feed(const std::uint8_t* data, std::size_t size, const std::string& name, Read&& read) {
  const auto* bytes = reinterpret_cast<const char*>(data);
  const runtime::InputFile file(name, std::vector<char>(bytes, bytes + size));
  try {
    std::forward<Read>(read)(file);
  } catch (const Error&) {
  }
  return 0;
}

/// All columns of a table have as many rows, and every value has a text.
inline void check_table(const io::Table& table) {
  std::string text;
  for (const io::Column& column : table.columns) {
    if (column.rows() != table.rows()) std::abort();
    for (std::uint64_t row = 0; row < column.rows(); ++row) {
      text.clear();
      column.print(row, text);
    }
  }
  for (const std::uint32_t i : table.coordinates) {
    if (i >= table.columns.size()) std::abort();
  }
}

/// A reader of points; what it returns must fit together. The table of all columns is read too, with the points or
/// alone.
template <typename Read>
int feed_points(const std::uint8_t* data, std::size_t size, const std::string& name, Read&& read) {
  return feed(data, size, name, [&](const runtime::InputFile& file) {
    const io::PointFile points = read(file, options_for(size));
    const bool named = points.columns.empty() || points.columns.size() == points.points.dims();
    const bool labelled = !points.labels || points.labels->codes.size() == points.points.rows();
    double sum = 0;  // touches every value
    for (std::uint64_t i = 0; i < points.points.rows(); ++i) {
      for (std::uint32_t d = 0; d < points.points.dims(); ++d) sum += points.view().at(i, d);
    }
    volatile double sink = sum;
    (void)sink;
    if (!named || !labelled) std::abort();
    io::Table table;
    io::ReadOptions all = options_for(size);
    all.table = &table;
    all.want_points = size % 2 == 0;
    read(file, all);
    check_table(table);
  });
}

}  // namespace kith::fuzz
