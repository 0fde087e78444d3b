// One query at a time gives what the batch gives: kNN, radius and count.
#include "support/engines.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace kith::test {
namespace {

class KnnOne : public testing::TestWithParam<EngineOnDevice> {};

template <typename T>
void expect_rows_of(const Neighbors& all, const SearchCase& c, const Index& index) {
  SearchOptions options = c.options;
  std::vector<std::uint32_t> indices(c.k);
  std::vector<T> distances(c.k);
  for (std::uint64_t q = 0; q < all.queries(); ++q) {
    if (!c.options.index_below.empty()) options.index_below = c.options.index_below.subspan(q, 1);
    const std::uint32_t found =
        index.knn_one(std::span(c.queries.view().row<T>(q), c.queries.dims()), indices, distances, options);
    std::uint32_t expected = 0;
    while (expected < c.k && all.index(q, expected) != all.missing()) ++expected;
    ASSERT_EQ(found, expected) << "query " << q;
    for (std::uint32_t j = 0; j < c.k; ++j) {
      ASSERT_EQ(indices[j], all.index(q, j)) << "query " << q << ", rank " << j;
      ASSERT_EQ(static_cast<double>(distances[j]), all.distance(q, j)) << "query " << q << ", rank " << j;
    }
  }
}

TEST_P(KnnOne, EqualsTheBatchOnRandomCases) {
  const bool with_periods = knows_periods(GetParam());
  for (std::uint64_t seed = 40000; seed < 41000; ++seed) {
    SearchCase c = random_case(seed);
    if (c.is_self || (!c.period.empty() && !with_periods) || !knows_metric(GetParam(), c.metric)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    c.options.max_distance = c.max_distance;
    if (seed % 5 == 0) c.options.eps = 1.5;
    if (seed % 7 == 0) c.options.max_leaves = static_cast<std::uint32_t>(1 + seed % 3);
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    const Neighbors all = index.knn(c.queries.view(), c.k, c.options);
    c.points.dtype() == DType::f32 ? expect_rows_of<float>(all, c, index) : expect_rows_of<double>(all, c, index);
    if (HasFailure()) return;
  }
}

TEST_P(KnnOne, RadiusAndCountOfOneQueryEqualTheBatch) {
  const bool with_periods = knows_periods(GetParam());
  for (std::uint64_t seed = 42000; seed < 42500; ++seed) {
    const SearchCase c = random_case(seed);
    if (c.is_self || (!c.period.empty() && !with_periods) || !knows_metric(GetParam(), c.metric)) continue;
    if (c.metric.kind() == Metric::Kind::inner_product) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    const std::vector<std::uint32_t> counts = index.count(c.queries.view(), c.radius, c.options);
    SearchOptions capped = c.options;
    capped.max_neighbors = c.most;
    const NeighborLists all = index.radius(c.queries.view(), c.radius, capped);
    for (std::uint64_t q = 0; q < c.queries.rows(); ++q) {
      SearchOptions options = c.options;
      if (!options.index_below.empty()) options.index_below = options.index_below.subspan(q, 1);
      const PointView query = c.queries.view().slice(q, 1);
      ASSERT_EQ(index.count(query, c.radius, options), std::vector{counts[q]}) << "query " << q;
      options.max_neighbors = c.most;
      const NeighborLists one = index.radius(query, c.radius, options);
      ASSERT_EQ(one.count(0), all.count(q)) << "query " << q;
      for (std::uint64_t j = 0; j < one.count(0); ++j) {
        const std::uint64_t at = all.offsets()[q] + j;
        ASSERT_EQ(one.indices()[j], all.indices()[at]) << "query " << q << ", rank " << j;
        ASSERT_EQ(one.distances().at(j), all.distances().at(at)) << "query " << q << ", rank " << j;
      }
    }
  }
}

TEST_P(KnnOne, SkippedPointsKeepTheNumbersOfTheOthers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float points[] = {0, nan, 1, 5, nan, 2};
  const Index index = Index::build(PointView(points, 6, 1),
                                   {.engine = GetParam().engine, .device = GetParam().device, .skip_nonfinite = true});
  const float query[] = {1.9f};
  std::uint32_t indices[5];
  float distances[5];
  EXPECT_EQ(index.knn_one(query, indices, distances), 4u);
  const std::uint32_t expected[] = {5, 2, 0, 3, 6};
  for (int j = 0; j < 5; ++j) EXPECT_EQ(indices[j], expected[j]) << j;
  EXPECT_EQ(distances[4], std::numeric_limits<float>::infinity());
  const std::uint64_t allowed[] = {0b001101};
  const std::uint32_t below[] = {3};
  EXPECT_EQ(index.knn_one(query, indices, distances, {.allowed = allowed, .index_below = below}), 2u);
  EXPECT_EQ(indices[0], 2u);
  EXPECT_EQ(indices[1], 0u);
  EXPECT_EQ(indices[2], 6u);
}

INSTANTIATE_TEST_SUITE_P(Available, KnnOne, testing::ValuesIn(available_engines()));

TEST(KnnOneCall, RefusesWhatMakesNoSense) {
  const float points[] = {0, 1, 2, 3};
  const Index index = Index::build(PointView(points, 2, 2));
  const float query[] = {0, std::numeric_limits<float>::quiet_NaN(), 1};
  const double wide[] = {0, 1};
  std::uint32_t indices[2];
  float distances[2];
  double wide_distances[2];
  const auto ask = [&](std::span<const float> q, std::span<float> d, const SearchOptions& options = {}) {
    return thrown_message<UsageError>([&] { index.knn_one(q, indices, d, options); });
  };
  const std::span<const float> good(points, 2);
  EXPECT_PRED2(holds, ask(query, distances), "3 dimensions, but the points have 2");
  EXPECT_PRED2(holds, ask(good, std::span(distances, 1)), "2 indices but 1 distances");
  EXPECT_PRED2(holds, ask(good, distances, {.exclude_self = true}), "exclude_self");
  EXPECT_PRED2(holds, ask(good, distances, {.earlier_only = true}), "earlier_only");
  EXPECT_PRED2(holds, ask(good, distances, {.eps = -1}), "eps");
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { index.knn_one(wide, indices, wide_distances); }), "f64");
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { index.knn_one(std::span(query, 2), indices, distances); }),
               "row 0, column 1");
  EXPECT_EQ(index.knn_one(good, {}, std::span<float>()), 0u);
}

}  // namespace
}  // namespace kith::test
