// Many queries, part by part, in an order in which those near each other follow each other: their neighbours are then
// in the caches, and the memory of what is found stays small.
#pragma once

#include <kith/point_view.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace kith::python {

class NearbyParts {
 public:
  /// Parts of up to `most` of the queries (f64), which must outlive this.
  NearbyParts(PointView queries, std::uint64_t most);

  /// Goes on to the next part, first to the first one. False behind the last.
  bool next();
  /// Which queries the part holds.
  std::span<const std::uint32_t> numbers() const { return numbers_; }
  /// Their rows, in that order.
  PointView rows() const { return rows_; }

 private:
  PointView queries_;
  std::uint64_t most_;
  std::uint64_t done_ = 0;
  std::vector<std::uint32_t> order_;  // all queries
  std::vector<double> gathered_;
  std::span<const std::uint32_t> numbers_;
  PointView rows_;
};

}  // namespace kith::python
