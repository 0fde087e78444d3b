// See value_file.hpp.
#include "value_file.hpp"

#include "input_flags.hpp"
#include "readable.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {
namespace {

/// What the numbers of a file are for, for messages.
struct ValueFile {
  std::string flag;
  std::string path;
  std::uint64_t count = 0;  ///< how many there must be
  std::string of, of_many;  ///< "point", "points"
};

/// One column of `count` rows. Throws UsageError if there are more columns, or more or fewer rows, and as
/// io::read_points.
io::PointFile read_values(const ValueFile& file, const OutputFlags& output, const ProgressCallback& progress) {
  io::PointFile values = read_input(file.path, {}, output, progress);
  const PointView view = values.view();
  if (view.dims() > 1) {
    throw UsageError(
        fmt::format("{}: {} has {} columns; give one value per {}", file.flag, file.path, view.dims(), file.of));
  }
  if (view.rows() != file.count) {
    throw UsageError(fmt::format("{}: {} has {}, but there are {}; give one for each", file.flag, file.path,
                                 counted(view.rows(), "value"), counted(file.count, file.of, file.of_many)));
  }
  return values;
}

}  // namespace

std::vector<double> read_query_radii(const std::string& path, std::uint64_t queries, const OutputFlags& output,
                                     const ProgressCallback& progress) {
  const io::PointFile file = read_values({"--radius-file", path, queries, "query", "queries"}, output, progress);
  std::vector<double> radii(queries);
  for (std::uint64_t q = 0; q < queries; ++q) {
    radii[q] = file.view().at(q, 0);
    if (radii[q] >= 0) continue;
    throw BadData(fmt::format("--radius-file: {}: row {} (counted from 0) is {}; a radius is at least 0, or inf", path,
                              q, radii[q]));
  }
  return radii;
}

std::vector<std::uint64_t> read_row_mask(const std::string& flag, const std::string& path, std::uint64_t rows,
                                         const OutputFlags& output, const ProgressCallback& progress) {
  const io::PointFile file = read_values({flag, path, rows, "point", "points"}, output, progress);
  const PointView values = file.view();
  std::vector<std::uint64_t> bits((rows + 63) / 64, 0);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const double value = values.at(i, 0);
    if (value != 0 && value != 1) {
      throw BadData(
          fmt::format("{}: {}: row {} (counted from 0) is {}; write 1 for a row that is meant, 0 for the "
                      "others",
                      flag, path, i, value));
    }
    if (value == 1) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  return bits;
}

}  // namespace kith::cli
