// Which rows of a table to take: by a condition on its columns, or at random.
#pragma once

#include <kith/io/table.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace kith::apps::inline v0 {

/// The rows for which a condition is true, e.g. "mean_distance < 0.2 and label == 'car'":
///   or, and, not · == != < <= > >= · + - * / · abs sqrt floor min max isnan isfinite · numbers, 'texts', columns, row
/// Numbers are compared as f64; a comparison with NaN is false, but for !=. A column whose name is no word stands in
/// backticks: `mean distance`. Throws UsageError that tells where in the condition something is wrong. O(rows).
KITH_EXPORT std::vector<std::uint32_t> rows_where(const io::Table& table, std::string_view condition, int threads = 0);

/// `count` different numbers below `rows`, in rising order, or all if there are fewer; the same for one seed on every
/// machine. O(rows).
KITH_EXPORT std::vector<std::uint32_t> random_rows(std::uint64_t rows, std::uint64_t count, std::uint64_t seed);

}  // namespace kith::apps::inline v0
