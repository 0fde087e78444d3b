// Metrics with parameters: against their definitions in long double, in files, and what is refused. Their bytes are
// compared with the oracle's where random cases are.
#include "engine/forged_index.hpp"
#include "support/engines.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using forged::Bytes;

PointSet random_points(std::uint64_t rows, std::uint32_t dims, double scale, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PointSet points(DType::f64, rows, dims);
  for (double& value : points.values<double>()) value = std::uniform_real_distribution<>(-scale, scale)(random);
  return points;
}

/// Every distance of a search for all points is the one that `exact(x, y)` gives.
template <typename Exact>
void expect_distances(const Index& index, PointView points, double tolerance, const Exact& exact) {
  const auto count = static_cast<std::uint32_t>(points.rows());
  const Neighbors found = index.knn(points, count, {.threads = 1});
  for (std::uint64_t q = 0; q < points.rows(); ++q) {
    for (std::uint32_t j = 0; j < count; ++j) {
      const long double expected = exact(points.row<double>(q), points.row<double>(found.index(q, j)));
      ASSERT_NEAR(found.distance(q, j), static_cast<double>(expected), tolerance) << q << " " << j;
    }
  }
}

TEST(MetricParams, WeightsVariancesAndMatricesAreWhatTheirDefinitionsSay) {
  const PointSet points = random_points(40, 3, 5, 1);
  const std::vector<double> params = {0.5, 2, 3};
  for (const double p : {1.0, 2.0, 2.7, 3.0}) {
    const Index index = Index::build(points.view(), {.metric = Metric::lp(p), .metric_params = params});
    expect_distances(index, points.view(), 1e-12, [&](const double* x, const double* y) {
      long double sum = 0;
      for (int d = 0; d < 3; ++d) sum += params[d] * std::pow(std::fabs(static_cast<long double>(x[d]) - y[d]), p);
      return std::pow(sum, 1 / static_cast<long double>(p));
    });
  }
  const Index by_variance = Index::build(points.view(), {.metric = Metric::seuclidean(), .metric_params = params});
  expect_distances(by_variance, points.view(), 1e-12, [&](const double* x, const double* y) {
    long double sum = 0;
    for (int d = 0; d < 3; ++d) sum += (static_cast<long double>(x[d]) - y[d]) * (x[d] - y[d]) / params[d];
    return std::sqrt(sum);
  });
  const std::vector<double> matrix = {2, 0.5, 0.1, 0.5, 1, -0.3, 0.1, -0.3, 4};
  const Index by_matrix = Index::build(points.view(), {.metric = Metric::mahalanobis(), .metric_params = matrix});
  expect_distances(by_matrix, points.view(), 1e-12, [&](const double* x, const double* y) {
    long double sum = 0;
    for (int d = 0; d < 3; ++d) {
      for (int e = 0; e < 3; ++e) sum += (static_cast<long double>(x[d]) - y[d]) * matrix[3 * d + e] * (x[e] - y[e]);
    }
    return std::sqrt(sum);
  });
}

/// The classic formula, which is exact enough for places that are not opposite each other.
TEST(MetricParams, HaversineIsTheWayOverTheSphere) {
  PointSet places = random_points(60, 2, 1, 2);
  for (std::uint64_t i = 0; i < 120; ++i) places.values<double>()[i] *= i % 2 == 0 ? 90 : 180;
  const auto angle = [](const double* x, const double* y) {
    constexpr long double kDegree = 3.14159265358979323846264338327950288L / 180;
    const long double north = std::sin((x[0] - y[0]) * kDegree / 2), east = std::sin((x[1] - y[1]) * kDegree / 2);
    const long double square = north * north + std::cos(x[0] * kDegree) * std::cos(y[0] * kDegree) * east * east;
    return 2 * std::asin(std::sqrt(std::fmin(square, 1.0L)));
  };
  const Index metres = Index::build(places.view(), {.metric = Metric::parse("haversine:metres")});
  expect_distances(metres, places.view(), 1e-6, [&](auto x, auto y) { return 6371008.8L * angle(x, y); });
  const Index degrees = Index::build(places.view(), {.metric = Metric::parse("haversine:degrees")});
  expect_distances(degrees, places.view(), 1e-12, [&](auto x, auto y) { return angle(x, y) * 57.295779513082320877L; });
  EXPECT_EQ(metres.dims(), 2u);
  EXPECT_FALSE(metres.holds_points());
  EXPECT_EQ(metres.points().dims(), 3u);

  const double berlin_and_paris[] = {52.52, 13.405, 48.8566, 2.3522};  // 877.46 km
  const Index cities = Index::build(PointView(berlin_and_paris, 2, 2), {.metric = Metric::parse("haversine:metres")});
  EXPECT_NEAR(cities.knn_self(2).distance(0, 1), 877464, 1000);
}

TEST(MetricParams, BrayCurtisHasNoNaN) {
  const double rows[] = {0, 0, 1, 2, -1, -2, 1e308, 1e308, -1e308, 1e308, 3, 4};
  const Index index = Index::build(PointView(rows, 6, 2), {.metric = Metric::braycurtis()});
  EXPECT_EQ(index.engine(), Engine::brute_force);
  const Neighbors found = index.knn_self(6);
  for (std::uint64_t q = 0; q < 6; ++q) {
    EXPECT_EQ(found.distance(q, 0), 0) << q;
    for (std::uint32_t j = 0; j < 6; ++j) EXPECT_FALSE(std::isnan(found.distance(q, j)));
  }
  EXPECT_EQ(found.index(1, 1), 5u);
  EXPECT_DOUBLE_EQ(found.distance(1, 1), 4.0 / 10);
}

TEST(MetricParams, AreComputedFromThePoints) {
  const PointSet points = random_points(500, 2, 3, 3);
  const Index by_variance = Index::build(points.view(), {.metric = Metric::seuclidean()});
  ASSERT_EQ(by_variance.metric_params().size(), 2u);
  long double mean = 0, square = 0;
  for (std::uint64_t i = 0; i < 500; ++i) mean += points.view().at(i, 0) / 500;
  for (std::uint64_t i = 0; i < 500; ++i) square += std::pow(points.view().at(i, 0) - mean, 2.0L) / 499;
  EXPECT_NEAR(by_variance.metric_params()[0], static_cast<double>(square), 1e-13);
  const Index by_matrix = Index::build(points.view(), {.metric = Metric::mahalanobis()});
  ASSERT_EQ(by_matrix.metric_params().size(), 4u);
  EXPECT_NEAR(1 / by_matrix.metric_params()[0], by_variance.metric_params()[0], 0.05);  // nearly independent columns

  const double line[] = {0, 0, 1, 2, 2, 4, 3, 6};
  const auto build = [&](std::uint64_t rows, Metric metric) {
    return thrown_message<UsageError>([&] { Index::build(PointView(line, rows, 2), {.metric = metric}); });
  };
  EXPECT_NE(build(4, Metric::mahalanobis()).find("no inverse"), std::string::npos);
  EXPECT_NE(build(1, Metric::seuclidean()).find("fewer than two points"), std::string::npos);
  const double constant[] = {1, 5, 2, 5, 3, 5};
  const auto flat = [&] { Index::build(PointView(constant, 3, 2), {.metric = Metric::seuclidean()}); };
  EXPECT_NE(thrown_message<UsageError>(flat).find("column 1 (counted from 0)"), std::string::npos);
}

TEST(MetricParams, AreCheckedAgainstTheMetricAndTheDims) {
  const PointSet points = random_points(20, 2, 1, 4);
  const auto refused = [&](Metric metric, std::vector<double> params) {
    return thrown_message<UsageError>(
        [&] { Index::build(points.view(), {.metric = metric, .metric_params = std::move(params)}); });
  };
  EXPECT_NE(refused(Metric::cosine(), {1, 1}).find("this metric has none"), std::string::npos);
  EXPECT_NE(refused(Metric::l2(), {1}).find("1 for 2 dimensions"), std::string::npos);
  EXPECT_NE(refused(Metric::l2(), {1, -1}).find("-1 is not a finite weight"), std::string::npos);
  EXPECT_NE(refused(Metric::seuclidean(), {1, 0}).find("0 is not a finite variance"), std::string::npos);
  EXPECT_NE(refused(Metric::mahalanobis(), {1, 0}).find("a matrix with a row and a column"), std::string::npos);
  EXPECT_NE(refused(Metric::mahalanobis(), {1, 0.5, 0.4, 1}).find("not symmetric"), std::string::npos);
  EXPECT_NE(refused(Metric::mahalanobis(), {1, 2, 2, 1}).find("not positive definite"), std::string::npos);
  EXPECT_NE(thrown_message<UsageError>([&] {
              Index::build(points.view(), {.metric_params = {1, 2}, .period = {9, 9}});
            }).find("do not go together"),
            std::string::npos);
  const PointSet three = random_points(4, 3, 1, 5);
  EXPECT_THROW(Index::build(three.view(), {.metric = Metric::haversine()}), UsageError);
  EXPECT_THROW(Metric::parse("haversine:miles"), UsageError);
  EXPECT_THROW(Metric::parse("seuclidean:3"), UsageError);
  const double swapped[] = {10, 20, 120, 30};
  EXPECT_NE(thrown_message<BadData>([&] {
              Index::build(PointView(swapped, 2, 2), {.metric = Metric::parse("haversine:degrees")});
            }).find("latitude"),
            std::string::npos);
  EXPECT_EQ(
      Index::build(PointView(swapped, 2, 2), {.metric = Metric::parse("haversine:degrees"), .skip_nonfinite = true})
          .skipped(),
      1u);
  EXPECT_THROW(Index::build(points.view(), {.metric_params = {1, 2}}).box(points.view(), points.view()), UsageError);
}

TEST(MetricParams, LiveInFilesAndForgedOnesAreRefused) {
  const PointSet points = random_points(50, 2, 1, 6);
  for (const Metric metric : {Metric::l1(), Metric::seuclidean(), Metric::mahalanobis()}) {
    const Index built = Index::build(
        points.view(), {.engine = Engine::kd_tree,
                        .metric = metric,
                        .metric_params = metric == Metric::mahalanobis() ? std::vector<double>{2, 0.5, 0.5, 3}
                                                                         : std::vector<double>{2, 0.5}});
    const Bytes bytes = built.to_bytes();
    const Index loaded = Index::from_bytes(bytes);
    EXPECT_EQ(loaded.metric_params(), built.metric_params());
    EXPECT_TRUE(std::ranges::equal(loaded.knn(points.view(), 5).indices(), built.knn(points.view(), 5).indices()));
    const std::uint64_t at = forged::section_of(forged::front_of(bytes), engine::SectionId::metric_params).offset;
    for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
      forged::expect_refused(forged::with_value(bytes, at, bad), "section metric_params: ");
    }
    const Bytes other = forged::with_value(forged::with_value(bytes, offsetof(engine::HeaderRecord, metric), 7u),
                                           offsetof(engine::HeaderRecord, metric_p), 0.0);
    forged::expect_refused(other, "metric_params");
  }
  const Index globe = Index::build(points.view(), {.engine = Engine::kd_tree, .metric = Metric::haversine()});
  const Bytes bytes = globe.to_bytes();
  EXPECT_EQ(Index::from_bytes(bytes).dims(), 2u);
  forged::expect_refused(forged::with_value(bytes, offsetof(engine::HeaderRecord, metric_p), 4.0),
                         "no metric with the number 8");
  forged::expect_refused(forged::with_value(bytes, offsetof(engine::HeaderRecord, metric), 9u),
                         "no metric with the number 9");
  const Index plain = Index::build(points.view(), {.engine = Engine::kd_tree});
  const Bytes flat =
      forged::with_value(forged::with_value(plain.to_bytes(), offsetof(engine::HeaderRecord, metric), 8u),
                         offsetof(engine::HeaderRecord, metric_p), 0.0);
  forged::expect_refused(flat, "2 dims, but metric haversine has 3");
}

}  // namespace
}  // namespace kith::test
