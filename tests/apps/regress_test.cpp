// Values by the mean of neighbours, against a plain loop.
#include <kith/apps/regress.hpp>

#include "support/classify_oracle.hpp"
#include "support/engines.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <vector>

namespace kith::apps {
namespace {

TEST(Regress, AsThePlainLoopOnRandomCases) {
  const std::vector<test::EngineOnDevice> engines = test::available_engines();
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const test::SearchCase c = test::random_case(seed);
    if (c.points.rows() == 0) continue;
    std::mt19937_64 random(seed);
    std::vector<double> values(c.points.rows());
    for (double& value : values) value = static_cast<double>(random() % 100) / 7 - 5;
    const PointView queries = c.is_self ? c.points.view() : c.queries.view();
    NeighborOptions options;
    options.k = static_cast<std::uint32_t>(1 + random() % std::min<std::uint64_t>(50, c.points.rows()));
    options.metric = c.metric;
    options.weights = seed % 2 == 0 ? Weights::uniform : Weights::distance;
    options.threads = c.options.threads;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const std::vector<double> expected = test::oracle_regress(c.points.view(), values, queries, options);
    for (const test::EngineOnDevice& where : engines) {
      if (!test::knows_metric(where, c.metric)) continue;
      SCOPED_TRACE(testing::Message() << where);
      options.engine = where.engine;
      options.device = where.device;
      EXPECT_EQ(expected, regress(c.points.view(), values, queries, options).values);
    }
    if (HasFailure()) return;
  }
}

TEST(Regress, TheNearerCountsMore) {
  const std::vector<float> points = {1, 2, 4};
  const std::vector<double> values = {10, 20, 40};
  const std::vector<float> queries = {0, 2};
  const PointView train(points.data(), 3, 1), test(queries.data(), 2, 1);
  EXPECT_EQ(regress(train, values, test, {.k = 2}).values, (std::vector<double>{15, 15}));
  EXPECT_EQ(regress(train, values, test, {.k = 2, .weights = Weights::distance}).values,
            (std::vector<double>{(10 + 0.5 * 20) / 1.5, 20}));
}

TEST(Regress, RefusesWhatMakesNoSense) {
  const std::vector<double> points = {1, 2, 3};
  const std::vector<double> values = {1, 2, 3};
  const PointView train(points.data(), 3, 1), nothing(points.data(), 0, 1);
  EXPECT_TRUE(regress(train, values, nothing, {.k = 3}).values.empty());
  EXPECT_THROW(regress(train, values, train, {.k = 0}), UsageError);
  EXPECT_THROW(regress(train, values, train, {.k = 4}), UsageError);
  EXPECT_THROW(regress(train, std::span(values).first(2), train, {.k = 1}), UsageError);
  EXPECT_THROW(regress(nothing, {}, train, {.k = 1}), BadData);
  EXPECT_THROW(regress(train, values, train, {.k = 1, .weights = Weights::distance, .metric = Metric::inner_product()}),
               UsageError);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const std::vector<double> some = {1, bad, 3};
    EXPECT_PRED2(test::holds, test::thrown_message<BadData>([&] { regress(train, some, train, {.k = 1}); }),
                 "values: that of point 1");
  }
}

}  // namespace
}  // namespace kith::apps
