// See validate.hpp.
#include "engine/validate.hpp"

#include "core/chain.hpp"
#include "core/dispatch.hpp"
#include "runtime/parallel.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::engine {
namespace {

constexpr std::uint64_t kRowsPerBlock = 16384;

/// Adds up x * 0, which is 0 for finite numbers and NaN for all others; the compiler turns it into vector code.
template <typename T>
bool all_finite(const T* row, std::uint32_t dims) {
  T sum = 0;
  for (std::uint32_t d = 0; d < dims; ++d) sum += row[d] * T(0);
  return sum == T(0);
}

/// Under cosine a row needs a direction: its squared length must be neither zero nor overflowed.
template <typename T>
bool has_direction(const T* row, std::uint32_t dims) {
  T length = 0;
  for (std::uint32_t d = 0; d < dims; ++d) length = core::fused_multiply_add(row[d], row[d], length);
  return length > 0 && length < std::numeric_limits<T>::infinity();
}

template <typename T>
std::vector<std::vector<std::uint64_t>> bad_rows_per_block(PointView points, bool needs_direction, int threads) {
  const std::uint64_t blocks = (points.rows() + kRowsPerBlock - 1) / kRowsPerBlock;
  std::vector<std::vector<std::uint64_t>> bad(blocks);
  runtime::parallel_for(blocks, {.threads = threads}, [&](std::uint64_t block) {
    const std::uint64_t end = std::min(points.rows(), (block + 1) * kRowsPerBlock);
    for (std::uint64_t i = block * kRowsPerBlock; i < end; ++i) {
      const T* row = points.row<T>(i);
      if (!all_finite(row, points.dims()) || (needs_direction && !has_direction(row, points.dims()))) {
        bad[block].push_back(i);
      }
    }
  });
  return bad;
}

std::string_view name_of_bad_value(double value) { return std::isnan(value) ? "NaN" : "infinity"; }

[[noreturn]] void throw_bad_row(PointView points, std::string_view what, std::uint64_t row, std::uint64_t count) {
  const std::string others = count == 1 ? "it is the only bad row" : fmt::format("{} rows are bad in all", count);
  for (std::uint32_t d = 0; d < points.dims(); ++d) {
    const double value = points.at(row, d);
    if (std::isfinite(value)) continue;
    throw BadData(fmt::format("{}: row {}, column {} (counted from 0) is {}; {}; remove them or skip non-finite rows",
                              what, row, d, name_of_bad_value(value), others));
  }
  throw BadData(
      fmt::format("{}: row {} (counted from 0) has no direction (its length is zero or overflows), which the "
                  "cosine metric needs; {}; remove them or skip such rows",
                  what, row, others));
}

}  // namespace

void require_points_view(PointView points) {
  if (points.device().kind() != Device::Kind::cpu) throw UsageError("points: only arrays in host memory can be read");
  if (points.rows() > kMostPoints) {
    throw UsageError(fmt::format("points: {} rows, but one index holds at most {}", points.rows(), kMostPoints));
  }
  if (points.dims() > kMostDims) {
    throw UsageError(fmt::format("points: {} dimensions, but at most {} are supported", points.dims(), kMostDims));
  }
  if (points.dims() == 0 && !points.empty()) throw UsageError("points: rows without coordinates (0 dimensions)");
  if (points.data() == nullptr && !points.empty()) throw UsageError("points: the data pointer is null");
}

void require_queries_view(PointView queries, std::uint32_t dims, DType dtype) {
  if (queries.device().kind() != Device::Kind::cpu) throw UsageError("queries: only arrays in host memory can be read");
  if (queries.empty()) return;
  if (queries.data() == nullptr) throw UsageError("queries: the data pointer is null");
  if (queries.dims() != dims) {
    throw UsageError(fmt::format("queries: {} dimensions, but the points have {}", queries.dims(), dims));
  }
  if (queries.dtype() != dtype) {
    throw UsageError(fmt::format("queries: {}, but the points are {}; convert one of them", name_of(queries.dtype()),
                                 name_of(dtype)));
  }
}

void require_radius(double radius) {
  if (!(radius >= 0)) throw UsageError(fmt::format("the radius must be at least 0, not {}", radius));
}

void require_search_options(const SearchOptions& options, Metric metric, bool is_self, bool is_radius) {
  if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
  if (options.squared && metric.kind() != Metric::Kind::l2) {
    throw UsageError(fmt::format("squared distances exist for the metric l2 only, not for {}", metric.name()));
  }
  if (options.exclude_self && !is_self) {
    throw UsageError("exclude_self needs the points themselves as queries, but other queries were given");
  }
  if (options.max_neighbors != 0 && !is_radius) throw UsageError("max_neighbors is for radius searches; use k here");
}

CleanRows find_clean_rows(PointView points, std::string_view what, Metric metric, bool skip, int threads) {
  const bool needs_direction = metric.kind() == Metric::Kind::cosine;
  const auto bad = core::visit_dtype(
      points.dtype(), [&](auto zero) { return bad_rows_per_block<decltype(zero)>(points, needs_direction, threads); });
  std::uint64_t count = 0;
  for (const auto& block : bad) count += block.size();
  if (count == 0) return {};
  if (!skip) {
    const auto first = std::find_if(bad.begin(), bad.end(), [](const auto& block) { return !block.empty(); });
    throw_bad_row(points, what, first->front(), count);
  }
  CleanRows clean{.all_clean = false, .rows = {}};
  clean.rows.reserve(points.rows() - count);
  std::uint64_t next = 0;
  for (const auto& block : bad) {
    for (const std::uint64_t row : block) {
      for (; next < row; ++next) clean.rows.push_back(next);
      next = row + 1;
    }
  }
  for (; next < points.rows(); ++next) clean.rows.push_back(next);
  return clean;
}

}  // namespace kith::engine
