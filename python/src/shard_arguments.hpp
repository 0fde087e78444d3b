// What searches over shards take from Python and give back.
#pragma once

#include "arrays.hpp"

#include <kith/index.hpp>
#include <kith/neighbors.hpp>
#include <kith/shards/search.hpp>

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::python {

namespace nb = nanobind;

/// The options that Python keeps in a dict by their names. Holds the arrays that they borrow.
class ShardOptions {
 public:
  explicit ShardOptions(const nb::dict& given);
  ShardOptions(const ShardOptions&) = delete;
  ShardOptions& operator=(const ShardOptions&) = delete;

  const shards::ShardSearchOptions& options() const { return options_; }
  void report_to(ProgressCallback progress) { options_.progress = std::move(progress); }

 private:
  Values<std::uint64_t> below_, allowed_;
  shards::ShardSearchOptions options_;
};

/// One radius, or one for each query. Throws UsageError if there are none.
Radii radii_of(const std::optional<Values<double>>& radii);

/// (distances, numbers).
nb::tuple python_neighbors(WideNeighbors found);
/// (distances, numbers, offsets).
nb::tuple python_lists(WideNeighborLists found);

}  // namespace kith::python
