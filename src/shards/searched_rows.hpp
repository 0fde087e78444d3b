// Rows of a caller as they are searched: mapped as the metric says, and with coordinates as whole numbers in the same
// order.
#pragma once

#include "core/arithmetic.hpp"
#include "core/metric/metric_params.hpp"
#include "core/order/ordered_bits.hpp"

#include <kith/point_view.hpp>
#include <kith/shards/numbered_points.hpp>

#include <cstdint>

namespace kith::shards {

/// A coordinate that is not NaN as a whole number; -0 is 0.
template <typename T>
std::uint64_t ordered(T coordinate) {
  return core::ordered_bits(coordinate + T(0));
}
template <typename T>
T coordinate_of(std::uint64_t ordered) {
  return core::distance_of_bits(static_cast<core::BitsOf<T>>(ordered));
}

/// Borrows the rows.
template <typename T>
class SearchedRows {
 public:
  SearchedRows(PointView view, const CutRules& rules)
      : view_(view), preparation_(rules.metric, rules.metric_params, view.dims()) {}

  core::RowMap map() const { return preparation_.map(); }
  std::uint32_t dims() const { return map().searched_dims(); }
  PointView view() const { return view_; }
  /// A row, in `scratch` (dims() coordinates) if it must be mapped.
  const T* at(std::uint64_t row, T* scratch) const {
    const T* plain = view_.row<T>(row);
    if (preparation_.is_plain()) return plain;
    map().apply(plain, scratch);
    return scratch;
  }

 private:
  PointView view_;
  core::RowPreparation preparation_;
};

}  // namespace kith::shards
