// Writes the coordinates of a table as one NumPy matrix, and for .npz each other column as an array of its own type.
#include "io/numpy/npy_header.hpp"
#include "io/records/record_table_write.hpp"
#include "io/records/record_values.hpp"
#include "io/tables/table_formats.hpp"
#include "io/numpy/zip_write.hpp"
#include "runtime/utf8.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

std::string_view npy_code(ColumnType type) {
  constexpr std::array<std::string_view, 10> kCodes = {"|i1", "|u1", "<i2", "<u2", "<i4",
                                                       "<u4", "<i8", "<u8", "<f4", "<f8"};
  return kCodes[static_cast<std::size_t>(type)];
}

/// The columns of numbers among the coordinates, all of one type.
struct Matrix {
  ColumnType type = ColumnType::f64;
  std::vector<Column> columns;
};

/// One type if all have it, else f32 or f64 if that holds every value. Whole numbers of text are f64, as they are read.
Matrix matrix_of(const Table& table) {
  Matrix matrix;
  for (const std::uint32_t i : table.coordinates) {
    const Column& column = table.columns[i];
    if (column.is_text()) continue;
    const bool is_whole_text = !column.texts().empty() && !is_float(column.type());
    matrix.columns.push_back(is_whole_text ? rounded(column, ColumnType::f64) : column);
  }
  if (matrix.columns.empty()) return matrix;
  matrix.type = matrix.columns.front().type();
  const bool same = std::ranges::all_of(matrix.columns, [&](const Column& c) { return c.type() == matrix.type; });
  if (same) return matrix;
  const bool narrow = std::ranges::all_of(
      matrix.columns, [](const Column& c) { return c.type() == ColumnType::f32 || size_of(c.type()) <= 2; });
  matrix.type = narrow ? ColumnType::f32 : ColumnType::f64;
  for (Column& column : matrix.columns) {
    auto exact = converted(column, matrix.type);
    if (!exact) {
      throw UsageError(
          fmt::format("the column \"{}\" holds 64-bit integers that f64 rounds, and the columns of an array have one "
                      "type; leave it out (`drop={}`), or write .csv",
                      column.name(), column.name()));
    }
    column = std::move(*exact);
  }
  return matrix;
}

void put_matrix(const Matrix& matrix, std::uint64_t rows, const ZipWriter::Sink& sink) {
  const std::uint64_t shape[] = {rows, matrix.columns.size()};
  const std::string header = npy_header_bytes(npy_code(matrix.type), shape);
  sink(header.data(), header.size());
  const std::size_t size = size_of(matrix.type);
  const std::size_t row_bytes = size * matrix.columns.size();
  const std::uint64_t block_rows = std::max<std::uint64_t>(1, (std::uint64_t{1} << 22) / row_bytes);
  std::vector<char> block;
  for (std::uint64_t row = 0; row < rows; row += block_rows) {
    const std::uint64_t count = std::min(block_rows, rows - row);
    block.resize(static_cast<std::size_t>(count) * row_bytes);
    for (std::size_t c = 0; c < matrix.columns.size(); ++c) {
      const std::byte* from = matrix.columns[c].data() + row * size;
      char* to = block.data() + c * size;
      for (std::uint64_t i = 0; i < count; ++i, from += size, to += row_bytes) std::memcpy(to, from, size);
    }
    sink(block.data(), block.size());
  }
}

/// Texts as NumPy has them: as many letters of 32 bits for each as the longest one has.
void put_texts(const Column& column, const ZipWriter::Sink& sink) {
  std::vector<std::uint32_t> letters;
  std::size_t longest = 1;
  const auto decode = [&](std::uint64_t row) {
    letters.clear();
    for (std::string_view text = column.texts()[row]; !text.empty();) {
      text.remove_prefix(runtime::append_code_points(text, letters));
      if (text.empty()) break;
      letters.push_back(0xFFFD);  // stands for a byte that is not UTF-8
      text.remove_prefix(1);
    }
  };
  for (std::uint64_t row = 0; row < column.rows(); ++row) {
    decode(row);
    longest = std::max(longest, letters.size());
  }
  const std::uint64_t shape[] = {column.rows()};
  const std::string header = npy_header_bytes(fmt::format("<U{}", longest), shape);
  sink(header.data(), header.size());
  for (std::uint64_t row = 0; row < column.rows(); ++row) {
    decode(row);
    letters.resize(longest, 0);
    sink(letters.data(), letters.size() * sizeof(std::uint32_t));
  }
}

void put_vector(const Column& column, const ZipWriter::Sink& sink) {
  if (column.is_text()) return put_texts(column, sink);
  const std::uint64_t shape[] = {column.rows()};
  const std::string header = npy_header_bytes(npy_code(column.type()), shape);
  sink(header.data(), header.size());
  sink(column.data(), static_cast<std::size_t>(column.rows()) * size_of(column.type()));
}

}  // namespace

Notes write_npy_table(runtime::OutputFile& file, const Table& table, const WriteOptions&) {
  const Matrix matrix = matrix_of(table);
  if (matrix.columns.empty()) throw UsageError("no column of numbers is left to write as npy; write .csv");
  put_matrix(matrix, table.rows(), [&file](const void* data, std::size_t bytes) { file.write(data, bytes); });
  std::vector<std::string> left_out;
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    if (!table.is_coordinate(i) || table.columns[i].is_text()) left_out.push_back(table.columns[i].name());
  }
  if (left_out.empty()) return {};
  return {
      fmt::format("npy files hold one matrix, the coordinates, so {} left out: {}; write .npz or .csv to keep {}, or "
                  "choose columns (`columns=`)",
                  left_out.size() == 1 ? "this column is" : "these columns are", fmt::join(left_out, ", "),
                  left_out.size() == 1 ? "it" : "them")};
}

Notes write_npz_table(runtime::OutputFile& file, const Table& table, const WriteOptions&) {
  const Matrix matrix = matrix_of(table);
  ZipWriter archive(file);
  std::set<std::string> taken;
  if (!matrix.columns.empty()) {
    archive.add("points.npy", [&](const ZipWriter::Sink& sink) { put_matrix(matrix, table.rows(), sink); });
    taken.insert("points");
  }
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    if (table.is_coordinate(i) && !column.is_text()) continue;
    std::string name = column.name();
    while (!taken.insert(name).second) name += "_column";
    archive.add(name + ".npy", [&](const ZipWriter::Sink& sink) { put_vector(column, sink); });
  }
  archive.finish();
  return {};
}

}  // namespace kith::io::inline v0
