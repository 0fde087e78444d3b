// `automatic` keeps a k-d tree if it prunes and scans if it does not, whatever the dims say; the answers are the same.
#include "support/expect_same.hpp"

#include <kith/apps/generate.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace kith::test {
namespace {

PointSet made(apps::Shape shape, std::uint64_t points, std::uint32_t dims, DType dtype = DType::f32) {
  return std::move(apps::generate({.shape = shape, .points = points, .dims = dims, .dtype = dtype}).points);
}

TEST(AutoChoice, PointsThatFillTheirDimsAreScanned) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet points = made(apps::Shape::uniform, 12000, 20, dtype);
    const Index index = Index::build(points.view());
    EXPECT_EQ(index.engine(), Engine::brute_force);
    EXPECT_NE(index.explain().find("of the leaves of a k-d tree"), std::string::npos) << index.explain();
    EXPECT_EQ(index.explain().find("if it prunes"), std::string::npos) << index.explain();
  }
}

/// 24 dims, but the points lie along three of them.
TEST(AutoChoice, PointsOnFewOfTheirDimsGetATree) {
  constexpr std::uint32_t kDims = 24;
  const PointSet flat = made(apps::Shape::uniform, 12000, 3);
  PointSet points(DType::f32, flat.rows(), kDims);
  for (std::uint64_t i = 0; i < flat.rows(); ++i) {
    for (std::uint32_t d = 0; d < kDims; ++d) {
      points.values<float>()[i * kDims + d] = flat.values<float>()[i * 3 + d % 3] * (1.0f + static_cast<float>(d));
    }
  }
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::cosine()}) {
    const Index index = Index::build(points.view(), {.metric = metric});
    EXPECT_EQ(index.engine(), Engine::kd_tree) << metric.name();
    EXPECT_NE(index.explain().find("of the leaves of a k-d tree"), std::string::npos) << index.explain();
    const Index brute = Index::build(points.view(), {.engine = Engine::brute_force, .metric = metric});
    const PointView some = points.view().slice(500, 200);
    expect_same(brute.knn(some, 9), index.knn(some, 9));
  }
}

TEST(AutoChoice, FewQueriesAreScannedWithoutBuildingATree) {
  const PointSet points = made(apps::Shape::clusters, 12000, 16);
  EXPECT_EQ(Index::build(points.view(), {.expected_queries = 10}).engine(), Engine::brute_force);
}

TEST(AutoChoice, FewDimsAreNotMeasured) {
  const PointSet points = made(apps::Shape::uniform, 12000, 3);
  const Index index = Index::build(points.view());
  EXPECT_EQ(index.engine(), Engine::kd_tree);
  EXPECT_EQ(index.explain().find("of the leaves of a k-d tree"), std::string::npos) << index.explain();
}

TEST(AutoChoice, RowsThatAreLeftOutAreNotAsked) {
  PointSet points = made(apps::Shape::uniform, 12000, 20);
  points.values<float>()[777] = std::nanf("");
  const Index index = Index::build(points.view(), {.skip_nonfinite = true});
  EXPECT_EQ(index.engine(), Engine::kd_tree);
  EXPECT_NE(index.explain().find("rows were left out"), std::string::npos) << index.explain();
}

/// A plan does not build, so it says what the choice depends on.
TEST(AutoChoice, APlanSaysThatItDepends) {
  const BuildPlan plan = Index::plan(1000000, 12, DType::f32);
  EXPECT_EQ(plan.engine, Engine::kd_tree);
  EXPECT_NE(plan.reason.find("if it prunes well, else brute"), std::string::npos) << plan.reason;
}

}  // namespace
}  // namespace kith::test
