// Searches by inner product: every engine that knows it gives the oracle's bytes, and all that is not for it is
// refused.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/apps/verify_neighbors.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace kith::test {
namespace {

class InnerProduct : public testing::TestWithParam<EngineOnDevice> {
 protected:
  static BuildOptions options() {
    return {.engine = GetParam().engine, .device = GetParam().device, .metric = Metric::inner_product()};
  }
};

TEST_P(InnerProduct, KnnEqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 40000; seed < 41500; ++seed) {
    const SearchCase c = inner_product_case(seed);
    SCOPED_TRACE(testing::Message() << "replay with inner_product_case(" << seed << "): " << c.text);
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    expect_same(oracle_knn(c.request(), c.k),
                c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
    if (HasFailure()) return;
  }
}

template <typename T>
void expect_one_by_one(const SearchCase& c, const Index& index) {
  SearchOptions options = c.options;
  options.index_below = {};
  Request request = c.request();
  request.index_below.clear();
  const Neighbors expected = oracle_knn(request, c.k);
  for (std::uint64_t q = 0; q < c.queries.rows(); ++q) {
    std::vector<std::uint32_t> indices(c.k);
    std::vector<T> distances(c.k);
    index.knn_one(std::span(c.queries.view().row<T>(q), c.queries.dims()), indices, distances, options);
    for (std::uint32_t j = 0; j < c.k; ++j) {
      ASSERT_EQ(indices[j], expected.index(q, j)) << "query " << q << ", rank " << j;
      ASSERT_EQ(static_cast<double>(distances[j]), expected.distance(q, j)) << "query " << q << ", rank " << j;
    }
  }
}

TEST_P(InnerProduct, OneByOneEqualsTheOracle) {
  for (std::uint64_t seed = 42000; seed < 42300; ++seed) {
    const SearchCase c = inner_product_case(seed);
    if (c.is_self) continue;
    SCOPED_TRACE(testing::Message() << "replay with inner_product_case(" << seed << "): " << c.text);
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    if (c.points.dtype() == DType::f32) {
      ASSERT_NO_FATAL_FAILURE(expect_one_by_one<float>(c, index));
    } else {
      ASSERT_NO_FATAL_FAILURE(expect_one_by_one<double>(c, index));
    }
  }
}

/// Enough points for several rounds and ranges, and many dims.
TEST_P(InnerProduct, ManyPointsEqualTheOracle) {
  std::mt19937_64 random(5);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint32_t dims : {2u, 5u, 100u}) {
      for (const NastyShape shape : {NastyShape::wide_spread, NastyShape::two_values, NastyShape::huge_values}) {
        const PointSet points = nasty_points(shape, dtype, 3000, dims, random);
        const PointSet queries = nasty_points(shape, dtype, 60, dims, random);
        const Index index = Index::build(points.view(), options());
        for (const std::uint64_t count : {1ull, 7ull, 60ull}) {
          const PointView some = queries.view().slice(0, count);
          for (const std::uint32_t k : {1u, 20u, 100u}) {
            SCOPED_TRACE(testing::Message() << dims << " dims, shape " << static_cast<int>(shape) << ", k " << k);
            const Neighbors expected =
                oracle_knn({.points = points.view(), .queries = &some, .metric = Metric::inner_product()}, k);
            for (const int threads : {1, 5}) expect_same(expected, index.knn(some, k, {.threads = threads}));
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(InnerProduct, LargestProductsComeFirstAndAreNegated) {
  const float points[] = {1, 0, -2, 0, 0, 5, 3, 0, 3, 0};
  const float query[] = {2, 0};
  const Index index = Index::build(PointView(points, 5, 2), options());
  EXPECT_EQ(index.metric(), Metric::inner_product());
  const Neighbors found = index.knn(PointView(query, 1, 2), 6);
  const std::uint32_t order[] = {3, 4, 0, 2, 1, 5};
  const double values[] = {-6, -6, -2, 0, 4, std::numeric_limits<double>::infinity()};
  for (std::uint32_t j = 0; j < 6; ++j) {
    EXPECT_EQ(found.index(0, j), order[j]);
    EXPECT_EQ(found.distance(0, j), values[j]);
  }
  EXPECT_FALSE(std::signbit(found.distance(0, 3))) << "a product of 0 is +0";
}

/// Sums that overflow stay infinite, whatever comes after: first or last, and ties go by number.
TEST_P(InnerProduct, OverflowHasItsPlace) {
  constexpr float kHuge = 3e38f, kInfinity = std::numeric_limits<float>::infinity();
  const float points[] = {1, 0, kHuge, -kHuge, kHuge, 0, -kHuge, 0, kHuge, kHuge};
  const float query[] = {10, 10};
  const Index index = Index::build(PointView(points, 5, 2), options());
  const Neighbors found = index.knn(PointView(query, 1, 2), 5);
  const std::uint32_t order[] = {1, 2, 4, 0, 3};
  const float values[] = {-kInfinity, -kInfinity, -kInfinity, -10, kInfinity};
  for (std::uint32_t j = 0; j < 5; ++j) {
    EXPECT_EQ(found.index(0, j), order[j]);
    EXPECT_EQ(found.distance(0, j), static_cast<double>(values[j]));
  }
  std::uint32_t indices[3];
  float distances[3];
  EXPECT_EQ(index.knn_one(std::span<const float>(query), indices, distances), 3u);
  EXPECT_TRUE(std::equal(indices, indices + 3, order));
}

TEST_P(InnerProduct, RowsLeftOutKeepTheNumbers) {
  float points[] = {1, 1, std::nanf(""), 0, -1, 4, 2, 2};
  BuildOptions skipping = options();
  skipping.skip_nonfinite = true;
  const Neighbors found = Index::build(PointView(points, 4, 2), skipping).knn_self(2, {.exclude_self = true});
  EXPECT_EQ(found.index(0, 0), 3u);
  EXPECT_EQ(found.distance(0, 0), -4);
  EXPECT_EQ(found.index(1, 0), 4u);
  EXPECT_EQ(found.index(2, 0), 3u);
  EXPECT_EQ(found.distance(2, 0), -6);
}

TEST_P(InnerProduct, FilesKeepTheMetric) {
  std::mt19937_64 random(9);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet points = nasty_points(NastyShape::two_values, dtype, 300, 7, random);
    const Index built = Index::build(points.view(), options());
    const std::vector<std::byte> bytes = built.to_bytes();
    const Index loaded = Index::from_bytes(bytes, {.device = GetParam().device});
    EXPECT_EQ(loaded.metric(), Metric::inner_product());
    EXPECT_EQ(loaded.to_bytes(), bytes);
    expect_same(oracle_knn({.points = points.view(), .metric = Metric::inner_product()}, 9), loaded.knn_self(9));
  }
}

TEST_P(InnerProduct, BoxesDoNotMeasure) {
  std::mt19937_64 random(21);
  const PointSet points = nasty_points(NastyShape::grid, DType::f32, 200, 3, random);
  const PointSet lower = nasty_points(NastyShape::grid, DType::f32, 20, 3, random);
  const PointSet upper = nasty_points(NastyShape::grid, DType::f32, 20, 3, random);
  const Index index = Index::build(points.view(), options());
  expect_same(oracle_box({.points = points.view()}, lower.view(), upper.view()), index.box(lower.view(), upper.view()));
}

TEST_P(InnerProduct, WhatNeedsDistancesIsRefused) {
  const float points[] = {1, 2, 3, 4};
  const PointView view(points, 2, 2);
  const Index index = Index::build(view, options());
  const auto refused = [](const auto& call) { return thrown_message<UsageError>(call); };
  EXPECT_NE(refused([&] { index.radius(view, 1); }).find("not for the metric ip"), std::string::npos);
  EXPECT_NE(refused([&] { index.radius_self(1); }).find("not for the metric ip"), std::string::npos);
  EXPECT_NE(refused([&] { index.count(view, 1); }).find("not for the metric ip"), std::string::npos);
  EXPECT_NE(refused([&] { index.count_self(1); }).find("not for the metric ip"), std::string::npos);
  EXPECT_NE(refused([&] { index.knn(view, 1, {.squared = true}); }).find("not for ip"), std::string::npos);
  EXPECT_NE(refused([&] { index.knn(view, 1, {.max_distance = 3}); }).find("max_distance"), std::string::npos);
  BuildOptions periodic = options();
  periodic.period = {10, 10};
  EXPECT_NE(refused([&] { Index::build(view, periodic); }).find("not for ip"), std::string::npos);
  EXPECT_EQ(index.knn(view, 1, {.eps = 0.5}).index(0, 0), 1u) << "brute force is exact anyway";
}

std::vector<EngineOnDevice> engines_that_scan() {
  std::vector<EngineOnDevice> engines = available_engines();
  std::erase_if(engines, [](const EngineOnDevice& where) { return where.engine != Engine::brute_force; });
  return engines;
}

INSTANTIATE_TEST_SUITE_P(Available, InnerProduct, testing::ValuesIn(engines_that_scan()));

TEST(InnerProductChoice, AutoTakesBruteForceAndTreesAreRefused) {
  std::mt19937_64 random(1);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 5000, 2, random);
  BuildOptions options{.metric = Metric::inner_product()};
  const Index index = Index::build(points.view(), options);
  EXPECT_EQ(index.engine(), Engine::brute_force);
  EXPECT_NE(index.explain().find("knows the metric ip"), std::string::npos) << index.explain();
  EXPECT_EQ(Index::plan(5000000, 3, DType::f32, options).engine, Engine::brute_force);
  options.engine = Engine::kd_tree;
  EXPECT_NE(thrown_message<UsageError>([&] { Index::build(points.view(), options); }).find("needs engine brute"),
            std::string::npos);
  EXPECT_THROW(Index::plan(5000, 2, DType::f32, options), UsageError);
}

TEST(InnerProductChoice, ResultsAreVerifiedAndTolerancesRefused) {
  std::mt19937_64 random(2);
  const PointSet points = nasty_points(NastyShape::two_values, DType::f64, 200, 4, random);
  const Index index = Index::build(points.view(), {.metric = Metric::inner_product()});
  const Neighbors found = index.knn_self(5);
  EXPECT_EQ(apps::verify_neighbors(found, points.view(), points.view(), {.metric = Metric::inner_product()}).wrong, 0u);
  EXPECT_GT(apps::verify_neighbors(found, points.view(), points.view(), {.metric = Metric::l2()}).wrong, 0u);
  EXPECT_THROW(apps::dedupe(points.view(), {.tolerance = 1, .metric = Metric::inner_product()}), UsageError);
}

}  // namespace
}  // namespace kith::test
