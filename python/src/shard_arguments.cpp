// See shard_arguments.hpp.
#include "shard_arguments.hpp"

#include <kith/error.hpp>

#include <utility>

namespace kith::python {

ShardOptions::ShardOptions(const nb::dict& given) {
  const auto take = [&]<typename T>(const char* name, T& value) {
    if (given.contains(name)) value = nb::cast<T>(given[name]);
  };
  take("squared", options_.squared);
  take("exclude_self", options_.exclude_self);
  take("earlier_only", options_.earlier_only);
  take("skip_nonfinite", options_.skip_nonfinite);
  take("max_neighbors", options_.max_neighbors);
  take("max_distance", options_.max_distance);
  take("threads", options_.threads);
  if (given.contains("index_below")) {
    below_ = nb::cast<Values<std::uint64_t>>(given["index_below"]);
    options_.index_below = span_of(below_);
  }
  if (given.contains("allowed")) {
    allowed_ = nb::cast<Values<std::uint64_t>>(given["allowed"]);
    options_.allowed = span_of(allowed_);
  }
}

Radii radii_of(const std::optional<Values<double>>& radii) {
  if (!radii) throw UsageError("a search within a radius needs radii");
  const std::span<const double> values = span_of(*radii);
  return values.size() == 1 ? Radii(values[0]) : Radii(values);
}

nb::tuple python_neighbors(WideNeighbors found) {
  nb::object numbers = numpy_int64(found.indices());
  const std::uint64_t queries = found.queries();
  const std::uint32_t k = found.k();
  return nb::make_tuple(numpy_of(std::move(found).distances(), {queries, k}), std::move(numbers));
}

nb::tuple python_lists(WideNeighborLists found) {
  nb::object numbers = numpy_int64(found.indices()), offsets = numpy_int64(found.offsets());
  const std::size_t count = found.indices().size();
  return nb::make_tuple(numpy_of(std::move(found).distances(), {count}), std::move(numbers), std::move(offsets));
}

}  // namespace kith::python
