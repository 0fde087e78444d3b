// See verify_neighbors.hpp: prepares the data, picks the queries, and compares each list with the plain search.
#include <kith/apps/verify_neighbors.hpp>
#include <kith/apps/wrap_points.hpp>

#include "apps/check_queries.hpp"
#include "apps/list_difference.hpp"
#include "apps/plain_rows.hpp"
#include "apps/plain_search.hpp"
#include "core/metric/metric_params.hpp"
#include "core/metric/metrics.hpp"
#include "runtime/memory_limit.hpp"

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace kith::apps::inline v0 {
namespace {

void check_data(PointView points, PointView queries, DType found, std::uint64_t found_queries,
                std::uint64_t found_points, const VerifyOptions& options) {
  for (const PointView& view : {points, queries}) {
    if (view.device().kind() == Device::Kind::cuda) {
      throw UsageError("the points are on a GPU; copy them to host memory to verify a search");
    }
  }
  if (points.dims() != queries.dims()) {
    throw UsageError(fmt::format("the points have {} dims, the queries {}; verify needs those of the search",
                                 points.dims(), queries.dims()));
  }
  if (points.dtype() != queries.dtype() || points.dtype() != found) {
    throw UsageError(fmt::format("the points are {}, the queries {}, the distances {}; verify needs one type",
                                 name_of(points.dtype()), name_of(queries.dtype()), name_of(found)));
  }
  if (found_queries != queries.rows()) {
    throw UsageError(fmt::format("the result has {} queries, the data {}; give the queries that were searched for",
                                 found_queries, queries.rows()));
  }
  if (found_points != points.rows()) {
    throw UsageError(fmt::format("the result is about {} points, the data has {}; give the points that were searched",
                                 found_points, points.rows()));
  }
  if ((options.exclude_self || options.earlier_only) && points.rows() != queries.rows()) {
    throw UsageError("exclude_self and earlier_only need the points themselves as queries");
  }
  if (!options.period.empty()) core::require_wraps(options.metric);
  if (!options.allowed.empty() && options.allowed.size() != (points.rows() + 63) / 64) {
    throw UsageError(
        fmt::format("allowed: {} words for {} points; give one for 64 points", options.allowed.size(), points.rows()));
  }
}

template <typename T>
bool is_finite(const T* row, std::uint32_t dims) {
  return std::all_of(row, row + dims, [](T value) { return std::isfinite(value); });
}

/// Which rows are finite. Throws BadData if one is not, unless such rows were to be left out.
template <typename T>
std::vector<bool> find_finite(PointView rows, std::string_view what, bool skip_nonfinite) {
  std::vector<bool> finite(rows.rows());
  for (std::uint64_t i = 0; i < rows.rows(); ++i) {
    finite[i] = is_finite(rows.row<T>(i), rows.dims());
    if (!finite[i] && !skip_nonfinite) {
      throw BadData(
          fmt::format("{}, row {}: holds NaN or infinity; if the search left such rows out, say so "
                      "(`skip_nonfinite=true`)",
                      what, i));
    }
  }
  return finite;
}

/// The finite rows inside the box that the periodic axes span.
PointSet wrapped(PointView rows, const std::vector<double>& period) {
  PointSet copy = PointSet::copy_of(rows);
  std::vector<PeriodicAxis> axes;
  for (const double length : period) axes.push_back({0, length});
  wrap_points(copy, axes);
  return copy;
}

/// The queries, if copies of all rows are allowed where they are needed.
PointView allowed_queries(PointView points, PointView queries, const VerifyOptions& options) {
  const bool is_copied =
      !options.period.empty() || !options.metric_params.empty() || !core::has_plain_rows(options.metric);
  const std::uint64_t rows = points.rows() + queries.rows();
  runtime::require_allowed(rows / 8 + (is_copied ? rows * points.dims() * size_of(points.dtype()) : 0),
                           "checking the result");
  return queries;
}

/// The data of one check and the plain search over it.
template <typename T>
class Checker {
 public:
  Checker(PointView points, PointView queries, const VerifyOptions& options)
      : options_(options),
        queries_(allowed_queries(points, queries, options)),
        points_finite_(find_finite<T>(points, "points", options.skip_nonfinite)),
        queries_finite_(find_finite<T>(queries, "queries", options.skip_nonfinite)) {
    search_.points = points;
    search_.metric = options.metric;
    const core::RowPreparation preparation(
        options.metric, core::params_for(options.metric, options.metric_params, points), points.dims());
    if (!preparation.is_plain()) {
      plain_points_ = plain_rows<T>(points, points_finite_, preparation.map(), "points");
      plain_queries_ = plain_rows<T>(queries, queries_finite_, preparation.map(), "queries");
      search_.points = plain_points_.view();
      queries_ = plain_queries_.view();
    }
    if (!options.period.empty()) {
      wrapped_points_ = wrapped(points, options.period);
      wrapped_queries_ = wrapped(queries, options.period);
      search_.points = wrapped_points_.view();
      queries_ = wrapped_queries_.view();
      for (const double length : options.period) search_.lengths.push_back(static_cast<T>(length));
    }
    for (std::uint64_t i = 0; i < points.rows(); ++i) {
      if (may_be_found(i)) search_.candidates.push_back(static_cast<std::uint32_t>(i));
    }
  }

  /// What is wrong with k nearest neighbours; empty if nothing is.
  /// `is_certified`: it is exact although the search was approximate.
  std::string check_nearest(std::uint64_t query, const NeighborList<T>& found, bool is_certified) const {
    const std::size_t k = found.indices.size();
    std::vector<PlainNeighbor<T>> expected;
    if (queries_finite_[query]) {
      expected = std::isinf(options_.max_distance)
                     ? search_.nearest(row(query), excluded(query), k)
                     : search_.within(row(query), excluded(query), options_.max_distance, k);
    }
    Lists lists = lists_of(expected);
    lists.indices.resize(k, size());
    lists.distances.resize(k, std::numeric_limits<T>::infinity());
    if (options_.eps == 0 || is_certified) return difference(query, found, lists);
    // Squared distances are stretched by the square.
    const bool squared = options_.squared && options_.metric.kind() == Metric::Kind::l2;
    const double eps = squared ? (1 + options_.eps) * (1 + options_.eps) - 1 : options_.eps;
    const double most = squared ? options_.max_distance * options_.max_distance : options_.max_distance;
    return approximate_difference<T>(found, {lists.indices, lists.distances}, eps, most, context_of(query));
  }

  /// What is wrong with the list of a radius search; empty if nothing is.
  std::string check_within(std::uint64_t query, const NeighborList<T>& found, double radius) const {
    const std::uint64_t most = options_.max_neighbors == 0 ? ~std::uint64_t{0} : options_.max_neighbors;
    std::vector<PlainNeighbor<T>> expected;
    if (queries_finite_[query]) expected = search_.within(row(query), excluded(query), radius, most);
    return difference(query, found, lists_of(expected));
  }

 private:
  struct Lists {
    std::vector<std::uint32_t> indices;
    std::vector<T> distances;
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(search_.points.rows()); }
  const T* row(std::uint64_t query) const { return queries_.row<T>(query); }
  bool may_be_found(std::uint64_t index) const {
    return points_finite_[index] &&
           (options_.allowed.empty() || (options_.allowed[index / 64] >> (index % 64) & 1) != 0);
  }
  Excluded excluded(std::uint64_t query) const {
    Excluded those;
    if (options_.exclude_self) those.self = query;
    if (options_.earlier_only) those.from = query;
    return those;
  }

  T shown_distance(T value) const {
    const bool squared = options_.squared && options_.metric.kind() == Metric::Kind::l2;
    return squared ? value : distance_of(value, options_.metric);
  }

  Lists lists_of(const std::vector<PlainNeighbor<T>>& neighbors) const {
    Lists lists;
    for (const PlainNeighbor<T>& neighbor : neighbors) {
      lists.indices.push_back(neighbor.index);
      lists.distances.push_back(shown_distance(neighbor.value));
    }
    return lists;
  }

  ListContext<T> context_of(std::uint64_t query) const {
    ListContext<T> context;
    context.points = size();
    context.distance_to = [this, query](std::uint32_t index) {
      return shown_distance(search_.value(row(query), index));
    };
    context.takes_part = [this, query](std::uint32_t index) {
      return may_be_found(index) && !excluded(query).holds(index);
    };
    return context;
  }

  std::string difference(std::uint64_t query, const NeighborList<T>& found, const Lists& lists) const {
    return exact_difference(found, NeighborList<T>{lists.indices, lists.distances}, context_of(query));
  }

  const VerifyOptions& options_;
  PointView queries_;
  std::vector<bool> points_finite_;
  std::vector<bool> queries_finite_;
  PointSet plain_points_;
  PointSet plain_queries_;
  PointSet wrapped_points_;
  PointSet wrapped_queries_;
  PlainSearch<T> search_;
};

template <typename T>
Verdict verify_nearest(const Neighbors& found, PointView points, PointView queries, const VerifyOptions& options) {
  const Checker<T> checker(points, queries, options);
  const std::span<const T> distances = found.distances().values<T>();
  return check_queries(queries.rows(), options, [&](std::uint64_t query) {
    const std::uint64_t start = query * found.k();
    const bool is_certified = !found.exact().empty() && found.exact()[query] != 0;
    return checker.check_nearest(
        query, {found.indices().subspan(start, found.k()), distances.subspan(start, found.k())}, is_certified);
  });
}

template <typename T>
Verdict verify_within(const NeighborLists& found, const Radii& radii, PointView points, PointView queries,
                      const VerifyOptions& options) {
  const Checker<T> checker(points, queries, options);
  const std::span<const T> distances = found.distances().values<T>();
  return check_queries(queries.rows(), options, [&](std::uint64_t query) {
    const std::uint64_t start = found.offsets()[query];
    const std::uint64_t count = found.count(query);
    return checker.check_within(query, {found.indices().subspan(start, count), distances.subspan(start, count)},
                                radii.of(query));
  });
}

}  // namespace

Verdict verify_neighbors(const Neighbors& found, PointView points, PointView queries, const VerifyOptions& options) {
  check_data(points, queries, found.dtype(), found.queries(), found.missing(), options);
  const std::uint64_t cells = found.indices().size();
  const bool fits = found.k() == 0 ? cells == 0 : cells / found.k() == found.queries() && cells % found.k() == 0;
  if (!fits || found.distances().size() != cells) {
    throw UsageError(fmt::format("the result has {} indices and {} distances for {} queries and k = {}", cells,
                                 found.distances().size(), found.queries(), found.k()));
  }
  return points.dtype() == DType::f32 ? verify_nearest<float>(found, points, queries, options)
                                      : verify_nearest<double>(found, points, queries, options);
}

Verdict verify_neighbors(const NeighborLists& found, const Radii& radii, PointView points, PointView queries,
                         const VerifyOptions& options) {
  if (!options.metric.info().has_distances) {
    throw UsageError(fmt::format("the metric {} has no distances, so no list can be that of a radius search by it",
                                 options.metric.name()));
  }
  check_data(points, queries, found.dtype(), found.queries(), found.points(), options);
  const std::span<const std::uint64_t> offsets = found.offsets();
  const bool fits = std::is_sorted(offsets.begin(), offsets.end()) && offsets.front() == 0 &&
                    offsets.back() == found.indices().size() && offsets.back() == found.distances().size();
  if (!fits) throw UsageError("the offsets of the result do not ascend from 0 to the number of its neighbours");
  if (radii.each() && radii.each()->size() != found.queries()) {
    throw UsageError(fmt::format("radii: {} for {} queries; give one for each", radii.each()->size(), found.queries()));
  }
  const double all = radii.all();
  const std::span<const double> each = radii.each().value_or(std::span(&all, 1));
  if (std::any_of(each.begin(), each.end(), [](double r) { return std::isnan(r); })) {
    throw UsageError("a radius cannot be NaN");
  }
  return points.dtype() == DType::f32 ? verify_within<float>(found, radii, points, queries, options)
                                      : verify_within<double>(found, radii, points, queries, options);
}

}  // namespace kith::apps::inline v0
