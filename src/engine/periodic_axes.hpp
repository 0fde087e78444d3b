// Periodic axes: their lengths in the type of the points, the check of points, the wrapping of queries.
#pragma once

#include "engine/validate.hpp"

#include <kith/index.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kith::engine {

/// The lengths of BuildOptions::period in the type of the points, infinity where an axis does not wrap; empty if none
/// does. Throws UsageError for a length that is none, a wrong number of them, or a metric that knows no way around.
template <typename T>
std::vector<T> period_lengths(const std::vector<double>& period, std::uint32_t dims, Metric metric);

/// Throws BadData unless every coordinate of the clean rows lies in [0, length). `rows` lie side by side; `clean` tells
/// their numbers in the caller's array.
template <typename T>
void require_inside_period(const T* rows, std::uint64_t count, const std::vector<T>& lengths, const CleanRows& clean,
                           int threads);

/// The coordinate in [0, length) that is the same place on a periodic axis. 0 and the length are one place, so what
/// rounding pushes out of the interval becomes 0.
template <typename T>
T wrapped(T x, T length) {
  if ((x >= 0 && x < length) || length == std::numeric_limits<T>::infinity()) return x;
  const T inside = x - std::floor(x / length) * length;
  return inside >= 0 && inside < length ? inside : T(0);
}

/// `lengths` are those of `period_lengths` as doubles; none leave the row as it is.
template <typename T>
void wrap_row(T* row, std::span<const double> lengths) {
  for (std::size_t d = 0; d < lengths.size(); ++d) row[d] = wrapped(row[d], static_cast<T>(lengths[d]));
}

}  // namespace kith::engine
