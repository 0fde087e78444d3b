// See nearby_parts.hpp.
#include "nearby_parts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith::python {
namespace {

constexpr std::uint32_t kCells = 32;            // along each of up to three dimensions
constexpr std::uint64_t kFewQueries = 1 << 12;  // they stay in the caller's order

/// The number of each query's cell.
std::vector<std::uint32_t> cells_of(PointView queries) {
  const std::uint32_t axes = std::min(queries.dims(), 3u);
  double lower[3], upper[3], scale[3];
  std::fill_n(lower, 3, std::numeric_limits<double>::infinity());
  std::fill_n(upper, 3, -std::numeric_limits<double>::infinity());
  for (std::uint64_t q = 0; q < queries.rows(); ++q) {
    const double* row = queries.row<double>(q);
    for (std::uint32_t d = 0; d < axes; ++d) {
      lower[d] = std::min(lower[d], row[d]);
      upper[d] = std::max(upper[d], row[d]);
    }
  }
  for (std::uint32_t d = 0; d < axes; ++d) scale[d] = upper[d] > lower[d] ? (kCells - 1) / (upper[d] - lower[d]) : 0;
  std::vector<std::uint32_t> cells(queries.rows());
  for (std::uint64_t q = 0; q < queries.rows(); ++q) {
    const double* row = queries.row<double>(q);
    std::uint32_t cell = 0;
    for (std::uint32_t d = 0; d < axes; ++d) {
      const double place = (row[d] - lower[d]) * scale[d];
      // NaN, which overflow may make, is in cell 0
      cell = cell * kCells + static_cast<std::uint32_t>(place >= 0 ? std::min(place, kCells - 1.0) : 0);
    }
    cells[q] = cell;
  }
  return cells;
}

/// The queries cell by cell of a coarse grid.
std::vector<std::uint32_t> nearby_order(PointView queries) {
  std::vector<std::uint32_t> order(queries.rows());
  if (queries.rows() <= kFewQueries) {
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  const std::vector<std::uint32_t> cells = cells_of(queries);
  std::vector<std::uint32_t> starts(kCells * kCells * kCells + 1, 0);
  for (const std::uint32_t cell : cells) ++starts[cell + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  for (std::uint64_t q = 0; q < queries.rows(); ++q) order[starts[cells[q]]++] = static_cast<std::uint32_t>(q);
  return order;
}

}  // namespace

NearbyParts::NearbyParts(PointView queries, std::uint64_t most)
    : queries_(queries), most_(most), order_(nearby_order(queries)) {}

bool NearbyParts::next() {
  if (done_ == order_.size()) return false;
  numbers_ = std::span(order_).subspan(done_, std::min<std::uint64_t>(most_, order_.size() - done_));
  done_ += numbers_.size();
  gathered_.resize(numbers_.size() * queries_.dims());
  double* next_row = gathered_.data();
  for (const std::uint32_t q : numbers_) next_row = std::copy_n(queries_.row<double>(q), queries_.dims(), next_row);
  rows_ = PointView(gathered_.data(), numbers_.size(), queries_.dims());
  return true;
}

}  // namespace kith::python
