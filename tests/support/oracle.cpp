// See oracle.hpp.
#include "support/oracle.hpp"

#include "core/metric/power.hpp"  // tested against long double by itself
#include "core/metric/sine.hpp"   // as well

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace kith::test {
namespace {

template <typename T>
std::vector<T> row_of(PointView points, std::uint64_t i) {
  return std::vector<T>(points.row<T>(i), points.row<T>(i) + points.dims());
}

/// Each vector is divided by the square root of its own chain.
template <typename T>
void make_unit(std::vector<T>& row) {
  T sum = 0;
  for (const T x : row) sum = std::fma(x, x, sum);
  const T length = std::sqrt(sum);
  for (T& x : row) x = x / length;
}

/// The place of a query on a periodic axis of length L: in [0, L), and 0 for what rounding pushes out of it.
template <typename T>
T inside_period(T x, T length) {
  if (x >= 0 && x < length) return x;
  const T moved = x - std::floor(x / length) * length;
  if (moved < 0 || moved >= length) return 0;
  return moved;
}

/// The matrix U, row by row and zero below the diagonal, for which U^T U is the matrix.
std::vector<double> triangle_of(const std::vector<double>& matrix, std::size_t dims) {
  std::vector<double> u(matrix.size(), 0.0);
  for (std::size_t i = 0; i < dims; ++i) {
    for (std::size_t j = i; j < dims; ++j) {
      double rest = matrix[i * dims + j];
      for (std::size_t k = 0; k < i; ++k) rest = std::fma(-u[k * dims + i], u[k * dims + j], rest);
      u[i * dims + j] = i == j ? std::sqrt(rest) : rest / u[i * dims + i];
    }
  }
  return u;
}

/// What a coordinate is multiplied by.
double factor_of(Metric metric, double param) {
  if (metric.kind() == Metric::Kind::seuclidean) return 1 / std::sqrt(param);
  if (metric == Metric::l2()) return std::sqrt(param);
  if (metric == Metric::l1()) return param;
  if (metric == Metric::linf()) return param == 0 ? 0 : 1;
  return core::any_power(param, 1 / metric.p());
}

/// A row as it is searched: a unit vector under cosine, angular and haversine, else multiplied by what the parameters
/// say.
template <typename T>
std::vector<T> searched_row(std::vector<T> row, Metric metric, const std::vector<double>& params) {
  const std::size_t dims = row.size();
  if (metric.is_of_directions()) make_unit(row);
  if (metric.kind() == Metric::Kind::haversine) {
    const bool is_degrees = metric.name() == "haversine:degrees" || metric.name() == "haversine:metres";
    const core::SineAndCosine a = core::sine_and_cosine(row[0], is_degrees),
                              b = core::sine_and_cosine(row[1], is_degrees);
    return {static_cast<T>(a.cosine * b.cosine), static_cast<T>(a.cosine * b.sine), static_cast<T>(a.sine)};
  }
  if (params.empty()) return row;
  const bool is_matrix = metric.kind() == Metric::Kind::mahalanobis;
  const std::vector<double> u = is_matrix ? triangle_of(params, dims) : std::vector<double>();
  std::vector<T> result;
  for (std::size_t d = 0; d < dims; ++d) {
    double sum = 0;
    for (std::size_t e = d; is_matrix && e < dims; ++e) {
      sum = std::fma(u[d * dims + e], static_cast<double>(row[e]), sum);
    }
    result.push_back(static_cast<T>(is_matrix ? sum : static_cast<double>(row[d]) * factor_of(metric, params[d])));
  }
  return result;
}

template <typename T>
std::vector<std::vector<T>> searched_rows(PointView points, const Request& request) {
  std::vector<std::vector<T>> rows;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    rows.push_back(searched_row(row_of<T>(points, i), request.metric, request.metric_params));
  }
  return rows;
}

/// The number by which neighbours are ordered.
template <typename T>
T compared(Metric metric, const std::vector<T>& query, const std::vector<T>& point, const std::vector<double>& period) {
  T acc = 0;
  if (metric.kind() == Metric::Kind::inner_product) {
    for (std::size_t d = 0; d < query.size(); ++d) acc = std::fma(query[d], point[d], acc);
    if (acc == 0) return 0;  // never -0
    return -acc;
  }
  T divisor = 0;  // of Bray-Curtis
  for (std::size_t d = 0; d < query.size(); ++d) {
    T e = query[d] - point[d];
    if (!period.empty() && period[d] != 0) {
      const T length = static_cast<T>(period[d]);
      e = std::fabs(inside_period(query[d], length) - point[d]);
      e = std::min(e, length - e);
    }
    switch (metric.kind()) {
      case Metric::Kind::canberra: {
        T a = query[d], b = point[d];
        if (std::isinf(std::fabs(a) + std::fabs(b))) a /= 2, b /= 2;
        if (a != 0 || b != 0) acc = acc + std::fabs(a - b) / (std::fabs(a) + std::fabs(b));
        break;
      }
      case Metric::Kind::l2:
      case Metric::Kind::cosine:
      case Metric::Kind::angular:
      case Metric::Kind::haversine:
      case Metric::Kind::seuclidean:
      case Metric::Kind::mahalanobis:
        acc = std::fma(e, e, acc);
        break;
      case Metric::Kind::braycurtis:
        divisor = divisor + std::fabs(query[d] + point[d]);
        acc = acc + std::fabs(e);
        break;
      case Metric::Kind::l1:
        acc = acc + std::fabs(e);
        break;
      case Metric::Kind::linf:
        acc = std::max(acc, std::fabs(e));
        break;
      case Metric::Kind::lp:
        acc = acc + core::Exponent(metric.p()).of(std::fabs(e));
        break;
      case Metric::Kind::inner_product:
        break;
    }
  }
  if (metric.kind() == Metric::Kind::braycurtis && acc != 0) {
    return std::isinf(acc) && std::isinf(divisor) ? T(1) : acc / divisor;
  }
  return acc;
}

/// The factors of the contract's series for the arc sine, each from the one before.
std::array<double, 48> make_angle_terms() {
  std::array<double, 48> terms = {1};
  for (std::size_t i = 1; i < terms.size(); ++i) {
    const auto n = static_cast<double>(i);
    terms[i] = terms[i - 1] * ((2 * n - 1) * (2 * n - 1)) / ((2 * n) * (2 * n + 1));
  }
  return terms;
}

/// The angle between unit vectors from the square of their distance, as the contract says.
double angle_of(double square) {
  static const std::array<double, 48> kTerms = make_angle_terms();
  const bool is_wide = square > 2;
  if (is_wide) square = 4 - std::min(square, 4.0);
  double sum = 0;
  for (auto term = kTerms.rbegin(); term != kTerms.rend(); ++term) sum = std::fma(sum, square / 4, *term);
  const double angle = std::sqrt(square) * sum;
  return is_wide ? 3.14159265358979323846 - angle : angle;
}

/// The number that the user sees.
template <typename T>
T shown(Metric metric, bool squared, T acc) {
  switch (metric.kind()) {
    case Metric::Kind::l2:
      return squared ? acc : std::sqrt(acc);
    case Metric::Kind::seuclidean:
    case Metric::Kind::mahalanobis:
      return std::sqrt(acc);
    case Metric::Kind::haversine:
      return static_cast<T>((metric.p() == 0   ? 1.0
                             : metric.p() == 1 ? 180 / 3.14159265358979323846
                                               : 6371008.8) *
                            angle_of(acc));
    case Metric::Kind::cosine:
      return acc / 2;
    case Metric::Kind::angular:
      return static_cast<T>(angle_of(acc));
    case Metric::Kind::lp:
      return static_cast<T>(core::any_power(acc, 1 / metric.p()));
    case Metric::Kind::l1:
    case Metric::Kind::linf:
    case Metric::Kind::canberra:
    case Metric::Kind::braycurtis:
    case Metric::Kind::inner_product:
      break;
  }
  return acc;
}

template <typename T>
struct Found {
  T acc;
  std::uint32_t index;
};

/// Whether query q may find point i at all.
bool may_find(const Request& request, std::uint64_t q, std::uint64_t i) {
  if (request.exclude_self && i == q) return false;
  if (request.earlier_only && i >= q) return false;
  if (!request.index_below.empty() && i >= request.index_below[q]) return false;
  if (!request.allowed.empty() && !request.allowed[i]) return false;
  return true;
}

/// What is searched.
template <typename T>
struct Rows {
  std::vector<std::vector<T>> points, queries;

  explicit Rows(const Request& request)
      : points(searched_rows<T>(request.points, request)),
        queries(request.queries == nullptr ? points : searched_rows<T>(*request.queries, request)) {}
};

/// Every point that may be a neighbour of one query, in the contract's order.
template <typename T>
std::vector<Found<T>> everyone(const Request& request, const Rows<T>& rows, std::uint64_t q) {
  std::vector<Found<T>> all;
  for (std::uint64_t i = 0; i < rows.points.size(); ++i) {
    if (!may_find(request, q, i)) continue;
    const T acc = compared(request.metric, rows.queries[q], rows.points[i], request.period);
    all.push_back({acc, static_cast<std::uint32_t>(i)});
  }
  std::sort(all.begin(), all.end(),
            [](const Found<T>& a, const Found<T>& b) { return std::tie(a.acc, a.index) < std::tie(b.acc, b.index); });
  return all;
}

/// A point is within the radius if the distance that the user would see is at most the radius.
template <typename T>
bool is_within(Metric metric, T acc, double radius) {
  if (metric.kind() == Metric::Kind::lp) {
    const T r = static_cast<T>(radius);
    return acc <= core::Exponent(metric.p()).of(static_cast<double>(r) > radius ? std::nextafter(r, T(0)) : r);
  }
  return static_cast<double>(shown(metric, false, acc)) <= radius;
}

std::uint64_t count_of_queries(const Request& request) {
  return request.queries == nullptr ? request.points.rows() : request.queries->rows();
}

template <typename T>
Neighbors knn_of(const Request& request, std::uint32_t k) {
  const auto n = static_cast<std::uint32_t>(request.points.rows());
  std::vector<std::uint32_t> indices;
  std::vector<T> distances;
  const Rows<T> rows(request);
  for (std::uint64_t q = 0; q < count_of_queries(request); ++q) {
    std::vector<Found<T>> all = everyone(request, rows, q);
    std::erase_if(all,
                  [&](const Found<T>& found) { return !is_within(request.metric, found.acc, request.max_distance); });
    for (std::uint32_t j = 0; j < k; ++j) {
      indices.push_back(j < all.size() ? all[j].index : n);
      distances.push_back(j < all.size() ? shown(request.metric, request.squared, all[j].acc)
                                         : std::numeric_limits<T>::infinity());
    }
  }
  return Neighbors(count_of_queries(request), k, n, std::move(indices), Distances(std::move(distances)));
}

template <typename T>
NeighborLists radius_of(const Request& request, double radius, std::uint32_t most) {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> indices;
  std::vector<T> distances;
  const Rows<T> rows(request);
  for (std::uint64_t q = 0; q < count_of_queries(request); ++q) {
    std::uint32_t taken = 0;
    const double own = request.radii.empty() ? radius : request.radii[q];
    for (const Found<T>& found : everyone(request, rows, q)) {
      if (!is_within(request.metric, found.acc, own) || (most > 0 && taken == most)) continue;
      indices.push_back(found.index);
      distances.push_back(shown(request.metric, request.squared, found.acc));
      ++taken;
    }
    offsets.push_back(indices.size());
  }
  return NeighborLists(static_cast<std::uint32_t>(request.points.rows()), std::move(offsets), std::move(indices),
                       Distances(std::move(distances)));
}

}  // namespace

Neighbors oracle_knn(const Request& request, std::uint32_t k) {
  return request.points.dtype() == DType::f32 ? knn_of<float>(request, k) : knn_of<double>(request, k);
}

NeighborLists oracle_radius(const Request& request, double radius, std::uint32_t most) {
  return request.points.dtype() == DType::f32 ? radius_of<float>(request, radius, most)
                                              : radius_of<double>(request, radius, most);
}

std::vector<std::uint32_t> oracle_count(const Request& request, double radius) {
  const NeighborLists lists = oracle_radius(request, radius);
  std::vector<std::uint32_t> counts;
  for (std::uint64_t q = 0; q < lists.queries(); ++q) counts.push_back(static_cast<std::uint32_t>(lists.count(q)));
  return counts;
}

PointLists oracle_box(const Request& request, PointView lower, PointView upper) {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> indices;
  for (std::uint64_t b = 0; b < lower.rows(); ++b) {
    for (std::uint64_t i = 0; i < request.points.rows(); ++i) {
      bool inside = may_find(request, b, i);
      for (std::uint32_t d = 0; d < request.points.dims(); ++d) {
        const double x = request.points.at(i, d);
        inside = inside && lower.at(b, d) <= x && x <= upper.at(b, d);
      }
      if (inside) indices.push_back(static_cast<std::uint32_t>(i));
    }
    offsets.push_back(indices.size());
  }
  return PointLists(static_cast<std::uint32_t>(request.points.rows()), std::move(offsets), std::move(indices));
}

template <typename T>
T oracle_distance(Metric metric, bool squared, std::vector<T> query, std::vector<T> point) {
  return shown(metric, squared, compared(metric, searched_row(query, metric, {}), searched_row(point, metric, {}), {}));
}

template float oracle_distance(Metric, bool, std::vector<float>, std::vector<float>);
template double oracle_distance(Metric, bool, std::vector<double>, std::vector<double>);

}  // namespace kith::test
