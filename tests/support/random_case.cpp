// See random_case.hpp.
#include "support/random_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace kith::test {
namespace {

std::uint64_t draw(std::mt19937_64& random, std::uint64_t below) { return random() % below; }

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

template <typename T>
T coordinate(NastyShape shape, std::uint64_t row, std::uint64_t rows, std::uint32_t d, std::mt19937_64& random) {
  const double x = unit(random);
  switch (shape) {
    case NastyShape::clusters:
      return static_cast<T>(static_cast<double>(draw(random, 3)) + 0.01 * x);
    case NastyShape::all_equal:
      return static_cast<T>(0.1) * static_cast<T>(d + 1);
    case NastyShape::two_values:
      return x < 0.5 ? T(-1) : T(1);
    case NastyShape::grid:
      return static_cast<T>(draw(random, 4));
    case NastyShape::line:
      return static_cast<T>(row) / static_cast<T>(rows) * static_cast<T>(d + 1);
    case NastyShape::sorted:
      return static_cast<T>(static_cast<double>(row) + x);
    case NastyShape::huge_offset:
      return static_cast<T>(1e7 + x);
    case NastyShape::denormals:
      return std::numeric_limits<T>::denorm_min() * static_cast<T>(draw(random, 1000));
    case NastyShape::wide_spread: {  // from 2^-50 to 2^50, by exact steps: `pow` differs between machines
      const double place = 100 * x - 50, whole = std::floor(place);
      return static_cast<T>(std::ldexp(1 + (place - whole), static_cast<int>(whole)) * (x < 0.5 ? -1 : 1));
    }
    case NastyShape::huge_values:
      return std::numeric_limits<T>::max() * static_cast<T>(2 * x - 1);
    case NastyShape::signed_zeros:
      return x < 0.3 ? T(-0.0) : x < 0.6 ? T(0) : static_cast<T>(draw(random, 2));
    case NastyShape::uniform:
    case NastyShape::count_of_shapes:
      break;
  }
  return static_cast<T>(x);
}

template <typename T>
void fill(NastyShape shape, PointSet& points, std::mt19937_64& random) {
  T* out = points.values<T>().data();
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      out[i * points.dims() + d] = coordinate<T>(shape, i, points.rows(), d, random);
    }
  }
}

/// A zero vector has no direction: cases of cosine and angular get a last coordinate of one.
void give_direction(PointSet& points) {
  if (points.dims() == 0) return;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    const std::uint64_t place = (i + 1) * points.dims() - 1;
    if (points.dtype() == DType::f32) {
      points.values<float>()[place] = 1;
    } else {
      points.values<double>()[place] = 1;
    }
  }
}

std::uint32_t random_dims(std::mt19937_64& random) {
  constexpr std::uint32_t kNotable[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33};
  return draw(random, 40) == 0 ? static_cast<std::uint32_t>(50 + draw(random, 150))
                               : kNotable[draw(random, std::size(kNotable))];
}

Metric random_metric(std::mt19937_64& random, NastyShape shape) {
  switch (draw(random, 8)) {
    case 0:
      return Metric::l1();
    case 1:
      return Metric::linf();
    case 2:
      return Metric::lp(3);
    case 3:  // squares of huge or tiny numbers leave no direction
      if (shape == NastyShape::huge_values || shape == NastyShape::wide_spread) return Metric::l1();
      return draw(random, 2) == 0 ? Metric::cosine() : Metric::angular();
    default:
      return Metric::l2();
  }
}

/// Any metric that has distances, with any kind of exponent.
Metric any_metric(std::mt19937_64& random, NastyShape shape) {
  constexpr double kExponents[] = {1.25, 1.5, 2.7, 3, 10, 77.7};
  const MetricInfo& info = metric_table()[draw(random, metric_table().size())];
  const double exponent = kExponents[draw(random, std::size(kExponents))];
  const bool has_units = !info.units[0].empty();
  const Metric metric = Metric::of(info.kind, has_units ? static_cast<double>(draw(random, 4)) : exponent);
  const bool is_huge = shape == NastyShape::huge_values || shape == NastyShape::wide_spread;
  const bool is_prepared =
      metric.is_of_directions() || metric == Metric::seuclidean() || metric == Metric::mahalanobis();
  return info.has_distances && !(is_huge && is_prepared) ? metric : Metric::canberra();
}

/// Turns points into places on the globe: what is not a latitude or a longitude becomes one.
void put_on_globe(PointSet& points, bool is_degrees) {
  const double half = is_degrees ? 90 : 1.5707963267948966;
  for (std::uint64_t i = 0; i < points.rows() * 2; ++i) {
    const double x = std::fmod(points.view().at(i / 2, i % 2), i % 2 == 0 ? half : 4 * half);
    points.dtype() == DType::f32 ? points.values<float>()[i] = static_cast<float>(x) : points.values<double>()[i] = x;
  }
}

/// Parameters for metrics that have some: weights with zeros among them, variances, a matrix L L^T.
std::vector<double> random_params(Metric metric, std::uint32_t dims, std::mt19937_64& random) {
  std::vector<double> params;
  if (metric == Metric::mahalanobis()) {
    std::vector<double> lower(std::size_t{dims} * dims, 0.0);
    for (std::size_t i = 0; i < dims; ++i) {
      for (std::size_t j = 0; j <= i; ++j) lower[i * dims + j] = i == j ? 1 + unit(random) : unit(random) - 0.5;
    }
    params.assign(lower.size(), 0.0);
    for (std::size_t i = 0; i < dims; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        for (std::size_t k = 0; k <= j; ++k) params[i * dims + j] += lower[i * dims + k] * lower[j * dims + k];
        params[j * dims + i] = params[i * dims + j];
      }
    }
    return params;
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    const double value = 0.1 + 3 * unit(random);
    params.push_back(metric != Metric::seuclidean() && draw(random, 5) == 0 ? 0 : value);
  }
  return params;
}

/// Makes some axes periodic, with lengths that the points often just fit into, and puts the points inside. The queries
/// stay where they are.
template <typename T>
void make_periodic(SearchCase& c, std::mt19937_64& random) {
  const std::uint32_t dims = c.points.dims();
  const std::span<T> values = c.points.values<T>();
  c.period.assign(dims, 0);
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (draw(random, 4) == 0) continue;
    T largest = 0;
    for (std::size_t i = d; i < values.size(); i += dims) largest = std::max(largest, std::fabs(values[i]));
    const T fitting = std::nextafter(largest, std::numeric_limits<T>::infinity());
    constexpr double kPlain[] = {1, 3, 0.1};
    const bool fits = std::isfinite(fitting) && draw(random, 2) == 0;
    c.period[d] = fits ? static_cast<double>(fitting) : kPlain[draw(random, 3)];
    const T length = static_cast<T>(c.period[d]);
    for (std::size_t i = d; i < values.size(); i += dims) values[i] = std::fmod(std::fabs(values[i]), length);
  }
}

/// Which points may be found: a bitmap from empty to full, and bounds on their numbers.
void add_filters(SearchCase& c, std::mt19937_64& random) {
  const std::uint64_t rows = c.points.rows();
  if (draw(random, 4) == 0) {
    constexpr double kShares[] = {0, 0.05, 0.5, 0.9, 1};
    const double share = kShares[draw(random, std::size(kShares))];
    c.allowed.assign((rows + 63) / 64, draw(random, 2) == 0 ? 0 : ~std::uint64_t{0} << (rows % 64));  // past the end
    if (rows % 64 == 0) std::fill(c.allowed.begin(), c.allowed.end(), 0);
    for (std::uint64_t word = 0; word + 1 < c.allowed.size(); ++word) c.allowed[word] = 0;
    for (std::uint64_t i = 0; i < rows; ++i) {
      if (unit(random) < share) c.allowed[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    c.options.allowed = c.allowed;
    c.text += fmt::format(", {} allowed", share);
  }
  if (c.is_self && draw(random, 4) == 0) {
    c.options.earlier_only = true;
    c.text += ", earlier only";
  }
  if (!c.is_self && draw(random, 4) == 0) {
    for (std::uint64_t q = 0; q < c.queries.rows(); ++q) {
      c.index_below.push_back(draw(random, 10) == 0 ? 0xffffffff : static_cast<std::uint32_t>(draw(random, rows + 2)));
    }
    c.options.index_below = c.index_below;
    c.text += ", index below";
  }
}

}  // namespace

PointSet nasty_points(NastyShape shape, DType dtype, std::uint64_t rows, std::uint32_t dims, std::mt19937_64& random) {
  PointSet points(dtype, rows, dims);
  if (dtype == DType::f32) {
    fill<float>(shape, points, random);
  } else {
    fill<double>(shape, points, random);
  }
  return points;
}

std::vector<bool> bits_of(std::span<const std::uint64_t> words, std::uint64_t points) {
  std::vector<bool> bits;
  for (std::uint64_t i = 0; i < points && !words.empty(); ++i) bits.push_back((words[i / 64] >> (i % 64) & 1) != 0);
  return bits;
}

Request SearchCase::request() const {
  static thread_local PointView view;
  view = queries.view();
  return {.points = points.view(),
          .queries = is_self ? nullptr : &view,
          .metric = metric,
          .exclude_self = options.exclude_self,
          .squared = options.squared,
          .max_distance = options.max_distance,
          .allowed = bits_of(options.allowed, points.rows()),
          .earlier_only = options.earlier_only,
          .index_below = {options.index_below.begin(), options.index_below.end()},
          .period = period,
          .metric_params = metric_params};
}

BuildOptions SearchCase::build_options(Engine engine, Device device) const {
  Builder of_engine = Builder::automatic;
  if (engine == Engine::cover_tree) of_engine = builder;
  if (device == Device::cpu() && engine == Engine::kd_tree) of_engine = kd_builder;
  return {.engine = engine,
          .device = device,
          .metric = metric,
          .split = split,
          .builder = of_engine,
          .leaf_size = leaf_size,
          .metric_params = metric_params,
          .period = period,
          .threads = options.threads};
}

SearchCase random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15ull + 1);
  constexpr std::uint64_t kSizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 200, 257, 500};
  SearchCase c;
  const auto shape = static_cast<NastyShape>(draw(random, static_cast<std::uint64_t>(NastyShape::count_of_shapes)));
  const DType dtype = draw(random, 2) == 0 ? DType::f32 : DType::f64;
  std::uint32_t dims = random_dims(random);
  const std::uint64_t rows = kSizes[draw(random, std::size(kSizes))];
  c.metric = random_metric(random, shape);
  const bool is_golden = seed < 500;  // held by digests: other metrics come in later cases only
  if (!is_golden && draw(random, 3) == 0) c.metric = any_metric(random, shape);
  if (c.metric.info().dims != 0) dims = c.metric.info().dims;
  c.is_self = draw(random, 4) == 0;
  c.points = nasty_points(shape, dtype, rows, dims, random);
  c.queries = nasty_points(shape, dtype, 1 + draw(random, 40), dims, random);
  if (c.metric.is_of_directions()) {
    give_direction(c.points);
    give_direction(c.queries);
  }
  if (c.metric.kind() == Metric::Kind::haversine) {
    put_on_globe(c.points, c.metric.p() == 1 || c.metric.p() == 2);
    put_on_globe(c.queries, c.metric.p() == 1 || c.metric.p() == 2);
  }
  const bool may_weigh = shape != NastyShape::huge_values && shape != NastyShape::wide_spread;
  const bool needs_params = c.metric == Metric::seuclidean() || c.metric == Metric::mahalanobis();
  if (needs_params || (!is_golden && may_weigh && c.metric.info().params == "weights" && draw(random, 6) == 0)) {
    c.metric_params = random_params(c.metric, dims, random);
  }
  const std::uint64_t k_kind = draw(random, 10);
  c.k = static_cast<std::uint32_t>(k_kind == 0   ? 0
                                   : k_kind == 1 ? rows + draw(random, 5)
                                   : k_kind == 2 ? 65 + draw(random, 70)
                                                 : 1 + draw(random, 20));
  c.options.threads = static_cast<int>(std::array{1, 2, 5}[draw(random, 3)]);
  c.options.exclude_self = c.is_self && draw(random, 2) == 0;
  c.options.squared = c.metric.kind() == Metric::Kind::l2 && draw(random, 3) == 0;
  c.most = draw(random, 3) == 0 ? static_cast<std::uint32_t>(1 + draw(random, 100)) : 0;
  c.builder = seed % 2 == 0 ? Builder::batch : Builder::lists;
  c.kd_builder = std::array{Builder::histogram, Builder::presort, Builder::select, Builder::segsort}[seed / 2 % 4];
  c.split = draw(random, 2) == 0 ? SplitRule::widest : SplitRule::cycle;
  c.leaf_size = draw(random, 3) == 0 ? 0 : static_cast<std::uint32_t>(1 + draw(random, 40));
  const bool may_wrap = c.metric.info().wraps && !(is_golden && c.metric.kind() == Metric::Kind::lp);
  if (may_wrap && c.metric_params.empty() && draw(random, 5) == 0) {
    dtype == DType::f32 ? make_periodic<float>(c, random) : make_periodic<double>(c, random);
  }
  // A radius that is often exactly the distance of some pair, so that "within" is decided on the last bit.
  c.radius = unit(random);
  if (rows > 0 && draw(random, 4) != 0) {
    const PointView one = c.points.view().slice(draw(random, rows), 1);
    const Neighbors nearest = oracle_knn({.points = c.points.view(),
                                          .queries = &one,
                                          .metric = c.metric,
                                          .period = c.period,
                                          .metric_params = c.metric_params},
                                         3);
    const double distance = nearest.distance(0, static_cast<std::uint32_t>(draw(random, 3)));
    if (std::isfinite(distance)) c.radius = distance * (draw(random, 3) == 0 ? 1.0 + unit(random) : 1.0);
  }
  c.max_distance = draw(random, 3) == 0 ? c.radius : std::numeric_limits<double>::infinity();
  c.text = fmt::format("{} {} points x {} dims, metric {}, k {}, radius {}, {} threads, leaf {}, shape {}{}{}{}{}",
                       rows, name_of(dtype), dims, c.metric.name(), c.k, c.radius, c.options.threads, c.leaf_size,
                       static_cast<int>(shape), c.is_self ? ", self" : "", c.options.exclude_self ? " excluded" : "",
                       std::isfinite(c.max_distance) ? ", bounded" : "", c.period.empty() ? "" : ", periodic");
  add_filters(c, random);
  return c;
}

namespace {

/// Turns about half of the coordinates around.
template <typename T>
void mix_signs(PointSet& points, std::mt19937_64& random) {
  for (T& value : points.values<T>()) value = draw(random, 2) == 0 ? value : -value;
}

}  // namespace

SearchCase inner_product_case(std::uint64_t seed) {
  SearchCase c = random_case(seed);
  std::mt19937_64 random(seed);
  c.metric = Metric::inner_product();
  c.metric_params.clear();
  c.period.clear();
  c.options.squared = false;
  c.max_distance = std::numeric_limits<double>::infinity();
  if (draw(random, 3) != 0) {
    for (PointSet* points : {&c.points, &c.queries}) {
      points->dtype() == DType::f32 ? mix_signs<float>(*points, random) : mix_signs<double>(*points, random);
    }
  }
  c.text += ", but by inner product";
  return c;
}

}  // namespace kith::test
