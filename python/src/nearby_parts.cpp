// See nearby_parts.hpp.
#include "nearby_parts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith::python {
namespace {

constexpr std::uint32_t kCells = 32;            // along each of up to three dimensions
constexpr std::uint64_t kFewQueries = 1 << 12;  // they stay in the caller's order

/// Appends the cell of each query along one dimension to its number.
void add_dimension(PointView queries, std::uint32_t d, std::vector<std::uint32_t>& cells) {
  double lower = std::numeric_limits<double>::infinity();
  double upper = -lower;
  for (std::uint64_t q = 0; q < queries.rows(); ++q) {
    lower = std::min(lower, queries.row<double>(q)[d]);
    upper = std::max(upper, queries.row<double>(q)[d]);
  }
  const double scale = upper > lower ? (kCells - 1) / (upper - lower) : 0;
  for (std::uint64_t q = 0; q < queries.rows(); ++q) {
    const double place = (queries.row<double>(q)[d] - lower) * scale;
    const double cell = place >= 0 ? std::min(place, kCells - 1.0) : 0;  // NaN, where infinities met, is cell 0
    cells[q] = cells[q] * kCells + static_cast<std::uint32_t>(cell);
  }
}

/// The queries cell by cell of a coarse grid.
std::vector<std::uint32_t> nearby_order(PointView queries) {
  std::vector<std::uint32_t> order(queries.rows());
  if (queries.rows() <= kFewQueries) {
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }
  std::vector<std::uint32_t> cells(queries.rows(), 0);
  for (std::uint32_t d = 0; d < std::min(queries.dims(), 3u); ++d) add_dimension(queries, d, cells);
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
  gathered_.clear();
  for (const std::uint32_t q : numbers_) {
    const double* row = queries_.row<double>(q);
    gathered_.insert(gathered_.end(), row, row + queries_.dims());
  }
  rows_ = PointView(gathered_.data(), numbers_.size(), queries_.dims());
  return true;
}

}  // namespace kith::python
