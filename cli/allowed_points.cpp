// See allowed_points.hpp.
#include "allowed_points.hpp"

#include "value_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {

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

std::vector<std::uint64_t> read_allowed_points(const std::string& path, std::uint64_t points, const OutputFlags& output,
                                               const ProgressCallback& progress) {
  return read_row_mask("--allow", path, points, output, progress);
}

}  // namespace kith::cli
