// The lengths of periodic axes in the type of the points, and the error of a point outside of them.
#pragma once

#include <kith/error.hpp>
#include <kith/metric.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::core {

/// The lengths of BuildOptions::period in the type of the points, infinity where an axis does not wrap; empty if none
/// does. Throws UsageError for a length that is none, a wrong number of them, or a metric that knows no way around.
template <typename T>
std::vector<T> period_lengths(const std::vector<double>& period, std::uint32_t dims, Metric metric);

/// "is 7, outside [0, 5) of its periodic axis".
template <typename T>
std::string outside_text(T value, T length);
/// For the first of `count` rows that are outside; `text` is that of the coordinate.
BadData outside_period(std::uint64_t row, std::uint32_t column, const std::string& text, std::uint64_t count);

}  // namespace kith::core
