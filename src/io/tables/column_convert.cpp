// Columns as another type: exactly, or not at all; see table.hpp.
#include <kith/io/table.hpp>

#include "io/tables/column_visit.hpp"
#include "io/records/record_values.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace kith::io::inline v0 {
namespace {

/// False if `D` does not hold the value.
template <typename D, typename S>
bool convert_exactly(S value, D& to) {
  if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
    if (!std::in_range<D>(value)) return false;
    to = static_cast<D>(value);
    return true;
  } else if constexpr (std::is_integral_v<S>) {
    ConversionLosses losses;
    to = convert_value<D>(value, losses);
    return losses.inexact_integers == 0;
  } else if constexpr (std::is_integral_v<D>) {
    constexpr S kEnd = static_cast<S>(std::numeric_limits<D>::max() / 2 + 1) * 2;  // 2^digits, exact
    if (!(value >= static_cast<S>(std::numeric_limits<D>::min()) && value < kEnd)) return false;
    if (value != std::trunc(value) || (value == 0 && std::signbit(value))) return false;
    to = static_cast<D>(value);
    return true;
  } else {
    ConversionLosses losses;
    to = convert_value<D>(value, losses);
    return std::isnan(value) || static_cast<S>(to) == value;
  }
}

}  // namespace

std::optional<Column> converted(const Column& column, ColumnType type) {
  if (column.is_text() || type == ColumnType::text) return std::nullopt;
  if (column.type() == type) return column;
  Column result(column.name(), type, column.rows());
  bool exact = true;
  with_column_type(column.type(), [&]<typename S>(S) {
    with_column_type(type, [&]<typename D>(D) {
      const std::span<const S> from = column.values<S>();
      const std::span<D> to = result.values<D>();
      for (std::size_t row = 0; exact && row < from.size(); ++row) exact = convert_exactly(from[row], to[row]);
    });
  });
  if (!exact) return std::nullopt;
  result.set_texts(column.texts());
  return result;
}

Column rounded(const Column& column, ColumnType type) {
  Column result(column.name(), type, column.rows());
  ConversionLosses losses;
  with_column_type(column.type(), [&]<typename S>(S) {
    const auto round_to = [&]<typename D>(D) {
      const std::span<const S> from = column.values<S>();
      const std::span<D> to = result.values<D>();
      for (std::size_t row = 0; row < from.size(); ++row) to[row] = convert_value<D>(from[row], losses);
    };
    type == ColumnType::f32 ? round_to(float{}) : round_to(double{});
  });
  return result;
}

}  // namespace kith::io::inline v0
