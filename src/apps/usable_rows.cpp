// See usable_rows.hpp.
#include "apps/usable_rows.hpp"

#include "apps/row_content.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::apps::inline v0 {
namespace {

constexpr std::uint64_t kCheckedRows = 65536;

template <typename T>
bool has_direction(const T* row, std::uint32_t dims) {
  T length = 0;
  for (std::uint32_t d = 0; d < dims; ++d) length = std::fma(row[d], row[d], length);
  return length > 0 && length < std::numeric_limits<T>::infinity();
}

template <typename T>
bool is_usable(PointView points, const RowDemands& demands, std::uint64_t row) {
  if (!demands.scores.empty() && std::isnan(demands.scores[row])) return false;
  const T* values = points.row<T>(row);
  if (!is_finite_row(values, points.dims())) return false;
  return !demands.needs_direction || has_direction(values, points.dims());
}

[[noreturn]] void throw_bad_row(PointView points, const RowDemands& demands, std::uint64_t row, std::uint64_t count) {
  const std::string others = count == 1 ? "it is the only bad row" : fmt::format("{} rows are bad in all", count);
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    const double value = points.at(row, d);
    if (std::isfinite(value)) continue;
    throw BadRow(demands.array, row, d, fmt::format("is {}; {}", std::isnan(value) ? "NaN" : "infinity", others));
  }
  if (!demands.scores.empty() && std::isnan(demands.scores[row])) {
    throw BadData(
        fmt::format("scores: row {} (counted from 0) is NaN; {}; remove them or skip non-finite rows", row, others));
  }
  throw BadRow(demands.array, row, std::nullopt,
               fmt::format("has no direction (its length is zero or overflows), which the metric needs; {}", others));
}

template <typename T>
std::vector<std::uint32_t> find_usable(PointView points, const RowDemands& demands) {
  const std::uint64_t blocks = (points.rows() + kCheckedRows - 1) / kCheckedRows;
  std::vector<std::vector<std::uint32_t>> bad(blocks);
  runtime::parallel_for(blocks, {.threads = demands.threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(points.rows(), (block + 1) * kCheckedRows);
    for (std::uint64_t row = block * kCheckedRows; row < end; ++row) {
      if (!is_usable<T>(points, demands, row)) bad[block].push_back(static_cast<std::uint32_t>(row));
    }
  });
  std::uint64_t count = 0;
  for (const auto& rows : bad) count += rows.size();
  if (count > 0 && !demands.skip) {
    const auto first = std::find_if(bad.begin(), bad.end(), [](const auto& rows) { return !rows.empty(); });
    throw_bad_row(points, demands, first->front(), count);
  }
  std::vector<std::uint32_t> usable;
  usable.reserve(points.rows() - count);
  std::uint64_t next = 0;
  for (const auto& rows : bad) {
    for (const std::uint32_t row : rows) {
      for (; next < row; ++next) usable.push_back(static_cast<std::uint32_t>(next));
      ++next;
    }
  }
  for (; next < points.rows(); ++next) usable.push_back(static_cast<std::uint32_t>(next));
  return usable;
}

}  // namespace

void require_host_points(PointView points, std::string_view purpose) {
  if (points.device().kind() == Device::Kind::cuda) {
    throw UsageError(fmt::format("the points are on a GPU; copy them to host memory to {}", purpose));
  }
  if (points.rows() > kMostRows) {
    throw UsageError(fmt::format("{} points, but at most {} can be numbered; cut the set into parts to {}",
                                 points.rows(), kMostRows, purpose));
  }
  if (points.dims() == 0 && !points.empty()) throw UsageError("points: rows without coordinates (0 dimensions)");
  if (points.data() == nullptr && !points.empty()) throw UsageError("points: the data pointer is null");
}

std::vector<std::uint32_t> usable_rows(PointView points, const RowDemands& demands) {
  return points.dtype() == DType::f32 ? find_usable<float>(points, demands) : find_usable<double>(points, demands);
}

}  // namespace kith::apps::inline v0
