// What is known of points before they are cut: counts, a box, and what is wrong with some. See
// kith/shards/numbered_points.hpp.
#include "core/dispatch.hpp"
#include "core/metric/period.hpp"
#include "core/metric/row_problem.hpp"
#include "shards/check_rules.hpp"
#include "shards/row_blocks.hpp"
#include "shards/searched_rows.hpp"

#include <kith/error.hpp>
#include <kith/shards/numbered_points.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace kith::shards::inline v0 {
namespace {

/// What makes no sense, as UsageError says it; empty if nothing.
std::string misuse_of(const NumberedPoints& points) {
  const PointView view = points.points;
  if (view.empty()) return {};
  if (view.device() != Device::cpu()) {
    return fmt::format("points: on {}, but shards take arrays in host memory", view.device().name());
  }
  if (view.dims() == 0) return "points: rows without coordinates (0 dimensions)";
  if (view.data() == nullptr) return "points: the data pointer is null";
  if (view.rows() > kMostRows)
    return fmt::format("points: {} rows, but at most {} are possible", view.rows(), kMostRows);
  if (!points.numbers.empty() && points.numbers.size() != view.rows()) {
    return fmt::format("numbers: {} for {} points; give one for each", points.numbers.size(), view.rows());
  }
  return {};
}

/// Rows that are bad in one way: how many, and the one with the least number.
struct Found {
  std::uint64_t count = 0;
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t row = 0;

  void add(std::uint64_t its_number, std::uint64_t its_row) {
    ++count;
    if (its_number < number) number = its_number, row = its_row;
  }
  void add(const Found& other) {
    count += other.count;
    if (other.number < number) number = other.number, row = other.row;
  }
};

template <typename T>
struct BlockFacts {
  std::vector<T> lower, upper;
  Found bad, outside;
  std::uint64_t searched = 0;
};

template <typename T>
std::optional<std::uint32_t> column_outside(const T* row, const std::vector<T>& lengths) {
  for (std::uint32_t d = 0; d < lengths.size(); ++d) {
    if (lengths[d] == std::numeric_limits<T>::infinity() || (row[d] >= 0 && row[d] < lengths[d])) continue;
    return d;
  }
  return {};
}

template <typename T>
void describe(PointFacts& facts, const NumberedPoints& points, const CutRules& rules, int threads) {
  const SearchedRows<T> rows(points.points, rules);
  const core::RowMap map = rows.map();
  const std::vector<T> lengths = core::period_lengths<T>(rules.period, facts.dims, rules.metric);
  if (!lengths.empty() && !map.is_plain()) {
    throw UsageError("period: periodic axes and metric_params do not go together");
  }
  const std::uint32_t dims = rows.dims();
  std::vector<BlockFacts<T>> found(row_blocks(facts.rows));
  for_row_blocks(facts.rows, threads, [&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
    BlockFacts<T>& own = found[block];
    own.lower.assign(dims, std::numeric_limits<T>::infinity());
    own.upper.assign(dims, -std::numeric_limits<T>::infinity());
    std::vector<T> scratch(dims);
    for (std::uint64_t i = begin; i < end; ++i) {
      const T* callers = points.points.row<T>(i);
      if (!map.takes(callers)) {
        if (!rules.skip_nonfinite) own.bad.add(points.number_of(i), i);
        continue;
      }
      if (column_outside(callers, lengths)) own.outside.add(points.number_of(i), i);
      const T* row = rows.at(i, scratch.data());
      for (std::uint32_t d = 0; d < dims; ++d) {
        own.lower[d] = row[d] < own.lower[d] ? row[d] : own.lower[d];
        own.upper[d] = row[d] > own.upper[d] ? row[d] : own.upper[d];
      }
      ++own.searched;
    }
  });
  Found bad, outside;
  for (const BlockFacts<T>& block : found) {
    bad.add(block.bad);
    outside.add(block.outside);
    facts.searched += block.searched;
    if (block.searched == 0) continue;
    if (facts.lower.empty()) {
      facts.lower.assign(dims, std::numeric_limits<double>::infinity());
      facts.upper.assign(dims, -std::numeric_limits<double>::infinity());
    }
    for (std::uint32_t d = 0; d < dims; ++d) {
      facts.lower[d] = std::min(facts.lower[d], static_cast<double>(block.lower[d] + T(0)));
      facts.upper[d] = std::max(facts.upper[d], static_cast<double>(block.upper[d] + T(0)));
    }
  }
  if (bad.count > 0) {
    const core::RowProblem problem = core::problem_of_row(points.points, bad.row, map);
    facts.non_finite = {bad.count, bad.number, problem.column, problem.text};
  }
  if (outside.count > 0) {
    const T* row = points.points.row<T>(outside.row);
    const std::uint32_t column = *column_outside(row, lengths);
    facts.outside = {outside.count, outside.number, column, core::outside_text(row[column], lengths[column])};
  }
}

void join(PointFacts::BadRows& all, const PointFacts::BadRows& part) {
  const std::uint64_t count = all.count + part.count;
  if (part.count > 0 && (all.count == 0 || part.first < all.first)) all = part;
  all.count = count;
}

}  // namespace

PointFacts PointFacts::of(const NumberedPoints& points, const CutRules& rules, int threads) {
  PointFacts facts;
  facts.dtype = points.points.dtype();
  facts.dims = points.points.dims();
  facts.misuse = misuse_of(points);
  if (!facts.misuse.empty() || points.points.empty()) return facts;
  facts.rows = points.points.rows();
  try {
    core::visit_dtype(facts.dtype, [&](auto zero) { describe<decltype(zero)>(facts, points, rules, threads); });
  } catch (const UsageError& error) {
    facts.misuse = error.what();
  }
  return facts;
}

PointFacts PointFacts::joined(std::span<const PointFacts> parts) {
  PointFacts all;
  bool has_shape = false;
  for (const PointFacts& part : parts) {
    if (all.misuse.empty()) all.misuse = part.misuse;
    // Without rows there is a shape only if it was given.
    if (part.dims != 0 && (!has_shape || all.rows == 0)) {
      all.dtype = part.dtype;
      all.dims = part.dims;
      has_shape = true;
    } else if (part.rows > 0 && (part.dims != all.dims || part.dtype != all.dtype) && all.misuse.empty()) {
      all.misuse = fmt::format("points: some are {} of {} dimensions, some {} of {}", name_of(all.dtype), all.dims,
                               name_of(part.dtype), part.dims);
    }
    all.rows += part.rows;
    all.searched += part.searched;
    join(all.non_finite, part.non_finite);
    join(all.outside, part.outside);
    if (part.lower.empty()) continue;
    if (all.lower.empty()) {
      all.lower = part.lower;
      all.upper = part.upper;
    } else if (all.lower.size() == part.lower.size()) {
      for (std::size_t d = 0; d < all.lower.size(); ++d) {
        all.lower[d] = std::min(all.lower[d], part.lower[d]);
        all.upper[d] = std::max(all.upper[d], part.upper[d]);
      }
    }
  }
  return all;
}

void PointFacts::require_good() const {
  if (!misuse.empty()) throw UsageError(misuse);
  if (rows > kMostRows) throw UsageError(fmt::format("points: {} rows, but at most {} are possible", rows, kMostRows));
  if (non_finite.count > 0) {
    throw BadRow("points", non_finite.first, non_finite.column,
                 fmt::format("{}; {}", non_finite.problem, core::count_of_bad_rows(non_finite.count)));
  }
  if (outside.count > 0) {
    throw core::outside_period(outside.first, outside.column.value_or(0), outside.problem, outside.count);
  }
}

}  // namespace kith::shards::inline v0
