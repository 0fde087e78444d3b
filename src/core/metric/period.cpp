// See period.hpp.
#include "core/metric/period.hpp"

#include "core/metric/metrics.hpp"

#include <kith/dtype.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kith::core {

template <typename T>
std::vector<T> period_lengths(const std::vector<double>& period, std::uint32_t dims, Metric metric) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (period.empty()) return {};
  if (period.size() != dims) {
    throw UsageError(
        fmt::format("period: {} length{} for {} dimension{}; give one for each, 0 for an axis that does not wrap",
                    period.size(), period.size() == 1 ? "" : "s", dims, dims == 1 ? "" : "s"));
  }
  std::vector<T> lengths(dims, kInfinity);
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (period[d] == 0) continue;
    lengths[d] = static_cast<T>(period[d]);
    if (!(period[d] > 0) || !(lengths[d] > 0) || lengths[d] == kInfinity) {
      throw UsageError(
          fmt::format("period: the length {} of axis {} (counted from 0) is not a positive {} number; give "
                      "0 for an axis that does not wrap",
                      period[d], d, name_of(dtype_of<T>)));
    }
  }
  if (std::all_of(lengths.begin(), lengths.end(), [](T length) { return length == kInfinity; })) return {};
  require_wraps(metric);
  return lengths;
}

template <typename T>
std::string outside_text(T value, T length) {
  return fmt::format("is {}, outside [0, {}) of its periodic axis", value, length);
}

BadData outside_period(std::uint64_t row, std::uint32_t column, const std::string& text, std::uint64_t count) {
  return BadData(
      fmt::format("points: row {}, column {} (counted from 0) {}; {}; wrap the points into the box first", row, column,
                  text, count == 1 ? "it is the only such row" : fmt::format("{} rows are outside in all", count)));
}

template std::vector<float> period_lengths(const std::vector<double>&, std::uint32_t, Metric);
template std::vector<double> period_lengths(const std::vector<double>&, std::uint32_t, Metric);
template std::string outside_text(float, float);
template std::string outside_text(double, double);

}  // namespace kith::core
