// Radius searches and counts where each query has a radius of its own, on every engine.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Radii : public testing::TestWithParam<EngineOnDevice> {
 protected:
  static Index build(PointView points, BuildOptions options = {}) {
    options.engine = GetParam().engine;
    options.device = GetParam().device;
    return Index::build(points, options);
  }
  bool runs(const SearchCase& c) const {
    return (c.period.empty() || knows_periods_) && knows_metric(GetParam(), c.metric);
  }

  bool knows_periods_ = knows_periods(GetParam());
};

/// Often exactly the distance of a pair, sometimes nothing or everything.
std::vector<double> random_radii(const SearchCase& c, std::mt19937_64& random) {
  const std::uint64_t queries = c.is_self ? c.points.rows() : c.queries.rows();
  const Neighbors near = oracle_knn(
      {.points = c.points.view(), .metric = c.metric, .period = c.period, .metric_params = c.metric_params}, 4);
  std::vector<double> radii;
  for (std::uint64_t q = 0; q < queries; ++q) {
    double radius = c.radius;
    if (near.queries() > 0 && random() % 3 != 0) {
      const std::uint64_t query = random() % near.queries();
      const double seen = near.distance(query, static_cast<std::uint32_t>(random() % 4));
      if (std::isfinite(seen)) radius = seen;
    }
    if (random() % 8 == 0) radius *= static_cast<double>(random() % 400) / 100;
    if (random() % 12 == 0) radius = random() % 2 == 0 ? 0.0 : kInfinity;
    radii.push_back(radius);
  }
  return radii;
}

TEST_P(Radii, EqualTheOracleOnRandomCases) {
  for (std::uint64_t seed = 30000; seed < 30400; ++seed) {
    SearchCase c = random_case(seed);
    if (!runs(c)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    std::mt19937_64 random(seed);
    Request request = c.request();
    request.radii = random_radii(c, random);
    c.options.max_neighbors = c.most;
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    expect_same(oracle_radius(request, -1, c.most), c.is_self
                                                        ? index.radius_self(request.radii, c.options)
                                                        : index.radius(c.queries.view(), request.radii, c.options));
    c.options.max_neighbors = 0;
    c.options.squared = false;
    EXPECT_EQ(oracle_count(request, -1), c.is_self ? index.count_self(request.radii, c.options)
                                                   : index.count(c.queries.view(), request.radii, c.options));
    if (HasFailure()) return;
  }
}

/// Enough queries for several groups, blocks and tasks, next to each other with very different radii.
TEST_P(Radii, ThreadsDoNotChangeTheAnswer) {
  std::mt19937_64 random(12);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet points = nasty_points(NastyShape::clusters, dtype, 4000, 3, random);
    std::vector<double> radii;
    for (int i = 0; i < 4000; ++i) radii.push_back(std::pow(10.0, -static_cast<double>(random() % 6)));
    const Index index = build(points.view());
    const NeighborLists lists = index.radius_self(radii, {.max_neighbors = 50, .threads = 1});
    expect_same(lists, index.radius_self(radii, {.max_neighbors = 50, .threads = 3}));
    expect_same(lists, index.radius(points.view(), radii, {.max_neighbors = 50, .threads = 2}));
    EXPECT_EQ(index.count_self(radii, {.threads = 1}), index.count(points.view(), radii, {.threads = 3}));
    const PointView few = points.view().slice(100, 40);
    Request request{.points = points.view(), .queries = &few};
    request.radii.assign(radii.begin() + 100, radii.begin() + 140);
    expect_same(oracle_radius(request, -1), index.radius(few, request.radii));
  }
}

TEST_P(Radii, StayWithTheirRowsWhereRowsAreLeftOut) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const double points[] = {0, kNan, 1, 2, kInfinity, 4};
  const double queries[] = {kNan, 2, kNan, 0};
  const Index index = build(PointView(points, 6, 1), {.skip_nonfinite = true});
  const std::vector<double> of_points = {1, 100, 1, 0, 100, 2}, of_queries = {100, 1, 100, 0};
  const NeighborLists self = index.radius_self(of_points);
  EXPECT_EQ(std::vector<std::uint64_t>(self.offsets().begin(), self.offsets().end()),
            (std::vector<std::uint64_t>{0, 2, 2, 5, 6, 6, 8}));
  EXPECT_EQ(std::vector<std::uint32_t>(self.indices().begin(), self.indices().end()),
            (std::vector<std::uint32_t>{0, 2, 2, 0, 3, 3, 5, 3}));
  EXPECT_EQ(index.count_self(of_points), (std::vector<std::uint32_t>{2, 0, 3, 1, 0, 2}));
  EXPECT_EQ(index.count(PointView(queries, 4, 1), of_queries, {.skip_nonfinite = true}),
            (std::vector<std::uint32_t>{0, 2, 0, 1}));
}

TEST_P(Radii, AreCheckedLikeOne) {
  const float points[] = {0, 1, 3};
  const Index index = build(PointView(points, 3, 1));
  const auto said = [&](const std::vector<double>& radii) {
    const std::string of_self = thrown_message<UsageError>([&] { index.radius_self(radii); });
    EXPECT_EQ(of_self, thrown_message<UsageError>([&] { index.count(PointView(points, 3, 1), radii); }));
    return of_self;
  };
  EXPECT_PRED2(holds, said({1, 2}), "2 for 3 queries");
  EXPECT_PRED2(holds, said({}), "0 for 3 queries");
  EXPECT_PRED2(holds, said({1, 2, -1}), "that of query 2 (counted from 0) is -1");
  EXPECT_PRED2(holds, said({1, std::nan(""), 1}), "that of query 1 (counted from 0) is nan");
  EXPECT_EQ(index.count_self(std::vector<double>{-0.0, kInfinity, 0}), (std::vector<std::uint32_t>{1, 3, 1}));
  EXPECT_EQ(index.radius(PointView(points, 0, 1), std::vector<double>{}).queries(), 0u);
}

/// A bound of -0 once came before all reduced distances of 0 in an order by bits.
TEST_P(Radii, MinusZeroIsZero) {
  std::vector<float> values;
  for (int i = 0; i < 600; ++i) values.push_back(static_cast<float>(i % 7));
  const PointView points(values.data(), values.size(), 1);
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf()}) {
    SCOPED_TRACE(metric.name());
    const Index index =
        Index::build(points, {.engine = GetParam().engine, .device = GetParam().device, .metric = metric});
    expect_same(index.radius_self(0.0), index.radius_self(-0.0));
    expect_same(index.radius(points, 0.0), index.radius(points, -0.0));
    EXPECT_EQ(index.count_self(0.0), index.count_self(-0.0));
    expect_same(index.knn_self(4, {.max_distance = 0.0}), index.knn_self(4, {.max_distance = -0.0}));
    EXPECT_EQ(index.count_self(-0.0)[0], 86u);
  }
}

INSTANTIATE_TEST_SUITE_P(Available, Radii, testing::ValuesIn(available_engines()));

}  // namespace
}  // namespace kith::test
