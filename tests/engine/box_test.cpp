// The points in boxes: every engine against the oracle, the odd boxes, and what is refused.
#include "core/metric/metric_params.hpp"
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

class BoxSearch : public testing::TestWithParam<EngineOnDevice> {
 protected:
  static Index build(PointView points, bool skip = false) {
    return Index::build(points, {.engine = GetParam().engine, .device = GetParam().device, .skip_nonfinite = skip});
  }
};

/// Boxes between points, around one point, without bounds on a side, empty because a face is on the wrong side.
template <typename T>
void fill_corners(const SearchCase& c, PointSet& lower, PointSet& upper, std::mt19937_64& random) {
  const PointView view = c.points.view();
  const std::uint32_t dims = view.dims();
  constexpr T kEnd = std::numeric_limits<T>::infinity();
  for (std::uint64_t b = 0; b < lower.rows(); ++b) {
    const std::uint64_t kind = random() % 6;
    const T* first = view.row<T>(random() % view.rows());
    const T* second = kind == 0 ? first : view.row<T>(random() % view.rows());
    for (std::uint32_t d = 0; d < dims; ++d) {
      T low = std::min(first[d], second[d]);
      T high = std::max(first[d], second[d]);
      if (kind == 1 || random() % 8 == 0) low = -kEnd;
      if (kind == 1 || random() % 8 == 0) high = kEnd;
      if (kind == 2 && random() % dims == 0) std::swap(low, high);
      if (kind == 3) high = std::nextafter(high, -kEnd);
      if (kind == 4) low = std::nextafter(low, -kEnd);
      lower.values<T>()[b * dims + d] = low;
      upper.values<T>()[b * dims + d] = high;
    }
  }
}

TEST_P(BoxSearch, EqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 30000; seed < 31000; ++seed) {
    SearchCase c = random_case(seed);
    if (c.points.rows() == 0 || !c.metric_params.empty() || !c.period.empty()) continue;
    if (!core::has_plain_rows(c.metric)) continue;
    if (!knows_metric(GetParam(), c.metric)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    std::mt19937_64 random(seed);
    const DType dtype = c.points.dtype();
    PointSet lower(dtype, c.queries.rows(), c.points.dims());
    PointSet upper(dtype, c.queries.rows(), c.points.dims());
    dtype == DType::f32 ? fill_corners<float>(c, lower, upper, random) : fill_corners<double>(c, lower, upper, random);
    SearchOptions options;
    options.threads = c.options.threads;
    options.allowed = c.options.allowed;
    options.index_below = c.options.index_below;  // one per query, and there are as many boxes
    const Index index = Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
    Request request = c.request();
    request.exclude_self = request.earlier_only = false;
    const PointLists expected = oracle_box(request, lower.view(), upper.view());
    expect_same(expected, index.box(lower.view(), upper.view(), options));
    std::vector<std::uint32_t> counts;
    for (std::uint64_t b = 0; b < expected.size(); ++b) counts.push_back(static_cast<std::uint32_t>(expected.count(b)));
    EXPECT_EQ(counts, index.box_count(lower.view(), upper.view(), options));
    if (HasFailure()) return;
  }
}

TEST_P(BoxSearch, FacesBelongToTheBox) {
  const float points[] = {0, 0, 1, 0, 0, 1, 1, 1, 0.5f, 0.5f, -0.0f, 2};
  const Index index = build(PointView(points, 6, 2));
  const float lower[] = {0, 0, 0.5f, 0.5f, -kInf, -kInf, 1, 1, 0, 1};
  const float upper[] = {1, 1, 0.5f, 0.5f, kInf, kInf, 0, 0, 0, 2};
  const PointLists found = index.box(PointView(lower, 5, 2), PointView(upper, 5, 2));
  const std::vector<std::vector<std::uint32_t>> expected = {{0, 1, 2, 3, 4}, {4}, {0, 1, 2, 3, 4, 5}, {}, {2, 5}};
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found.points(), 6u);
  for (std::uint64_t b = 0; b < 5; ++b) {
    ASSERT_EQ(found.count(b), expected[b].size()) << b;
    for (std::uint64_t j = 0; j < found.count(b); ++j) EXPECT_EQ(found.index(b, j), expected[b][j]) << b;
  }
  EXPECT_EQ(index.box_count(PointView(lower, 5, 2), PointView(upper, 5, 2)),
            (std::vector<std::uint32_t>{5, 1, 6, 0, 2}));
}

TEST_P(BoxSearch, CornersMayLieInOneArray) {
  const float points[] = {0, 1, 2, 3, 4};
  const float boxes[] = {1, 3, 2.5f, 9};
  const PointView lower(boxes, DType::f32, 2, 1, 2);
  const PointView upper(boxes + 1, DType::f32, 2, 1, 2);
  EXPECT_EQ(build(PointView(points, 5, 1)).box_count(lower, upper), (std::vector<std::uint32_t>{3, 2}));
}

TEST_P(BoxSearch, SkippedPointsKeepTheNumbersOfTheOthers) {
  const float points[] = {0, kNan, 1, 2, kInf, 3};
  const Index index = build(PointView(points, 6, 1), true);
  const float lower[] = {-5, 1, 1};
  const float upper[] = {5, 2, 3};
  const std::uint64_t allowed[] = {0b101100};
  const std::uint32_t below[] = {6, 3, 5};
  const PointLists all = index.box(PointView(lower, 3, 1), PointView(upper, 3, 1));
  EXPECT_EQ(std::vector(all.indices().begin(), all.indices().end()),
            (std::vector<std::uint32_t>{0, 2, 3, 5, 2, 3, 2, 3, 5}));
  const PointLists some =
      index.box(PointView(lower, 3, 1), PointView(upper, 3, 1), {.allowed = allowed, .index_below = below});
  EXPECT_EQ(std::vector(some.indices().begin(), some.indices().end()), (std::vector<std::uint32_t>{2, 3, 5, 2, 2, 3}));
  EXPECT_EQ(some.offsets()[1], 3u);
  EXPECT_EQ(some.offsets()[2], 4u);
}

TEST_P(BoxSearch, NothingInNothing) {
  const Index index = build(PointView(static_cast<const float*>(nullptr), 0, 2));
  const float corner[] = {0, 0};
  EXPECT_EQ(index.box_count(PointView(corner, 1, 2), PointView(corner, 1, 2)), std::vector<std::uint32_t>{0});
  EXPECT_EQ(index.box(PointView(corner, 1, 2), PointView(corner, 1, 2)).count(0), 0u);
  EXPECT_EQ(index.box(PointView(corner, 0, 2), PointView(corner, 0, 2)).size(), 0u);
}

TEST_P(BoxSearch, NanIsRefusedOrFindsNothing) {
  const float points[] = {0, 1, 2};
  const Index index = build(PointView(points, 3, 1));
  const float lower[] = {0, kNan, 1};
  const float upper[] = {5, 5, kNan};
  const PointView low(lower, 3, 1);
  const PointView high(upper, 3, 1);
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { index.box(low, high); }), "lower corners: row 1, column 0");
  EXPECT_PRED2(holds, thrown_message<BadData>([&] { index.box_count(low.slice(2, 1), high.slice(2, 1)); }),
               "upper corners: row 0, column 0");
  EXPECT_EQ(index.box_count(low, high, {.skip_nonfinite = true}), (std::vector<std::uint32_t>{3, 0, 0}));
}

TEST_P(BoxSearch, ManyBoxesOnManyThreads) {
  std::mt19937_64 random(21);
  const PointSet points = nasty_points(NastyShape::clusters, DType::f64, 3000, 3, random);
  const PointSet lower = nasty_points(NastyShape::clusters, DType::f64, 1500, 3, random);
  PointSet upper = lower.clone();
  for (double& x : upper.values<double>()) x += 0.5;
  const Index index = build(points.view());
  const PointLists alone = index.box(lower.view(), upper.view(), {.threads = 1});
  EXPECT_GT(alone.indices().size(), 0u);
  for (const int threads : {2, 5}) expect_same(alone, index.box(lower.view(), upper.view(), {.threads = threads}));
}

INSTANTIATE_TEST_SUITE_P(Available, BoxSearch, testing::ValuesIn(available_engines()));

TEST(Boxes, RefuseWhatMakesNoSense) {
  const float points[] = {1, 2, 3, 4};
  const double doubles[] = {1, 2};
  const PointView pairs(points, 2, 2);
  const Index index = Index::build(pairs);
  const auto refused = [&](PointView lower, PointView upper, const SearchOptions& options = {}) {
    return thrown_message<UsageError>([&] { index.box(lower, upper, options); });
  };
  EXPECT_PRED2(holds, refused(pairs, pairs.slice(0, 1)), "2 lower but 1 upper corners");
  EXPECT_PRED2(holds, refused(PointView(points, 2, 1), PointView(points, 2, 1)), "lower corners: 1 dimensions");
  EXPECT_PRED2(holds, refused(PointView(points, 1, 2), PointView(doubles, 1, 2)), "upper corners: f64");
  EXPECT_PRED2(holds, refused(pairs, pairs, {.squared = true}), "box searches report none");
  EXPECT_PRED2(holds, refused(pairs, pairs, {.exclude_self = true}), "exclude_self");
  EXPECT_PRED2(holds, refused(pairs, pairs, {.max_neighbors = 1}), "max_neighbors");
  EXPECT_PRED2(holds, refused(pairs, pairs, {.max_distance = 1}), "max_distance");
  EXPECT_PRED2(holds, refused(pairs, pairs, {.earlier_only = true}), "earlier_only");
  const std::uint32_t below[] = {1};
  EXPECT_PRED2(holds, refused(pairs, pairs, {.index_below = below}), "index_below: 1 bounds for 2 boxes");
  const Index cosine = Index::build(pairs, {.metric = Metric::cosine()});
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { cosine.box(pairs, pairs); }), "cosine");
  const Index torus = Index::build(pairs, {.period = {10, 0}});
  EXPECT_PRED2(holds, thrown_message<UsageError>([&] { torus.box_count(pairs, pairs); }), "periodic");
}

}  // namespace
}  // namespace kith::test
