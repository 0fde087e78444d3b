// See query_radii.hpp.
#include "query_radii.hpp"

#include "value_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

namespace kith::cli {

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

}  // namespace kith::cli
