// Periodic axes: distances around the edge, queries from anywhere, and what is refused.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include "core/query_row.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

class Torus : public testing::TestWithParam<EngineOnDevice> {
 protected:
  void SetUp() override {
    if (!knows_periods(GetParam())) GTEST_SKIP() << GetParam() << " knows no periodic axes";
  }
  static BuildOptions options(std::vector<double> period, Metric metric = Metric::l2()) {
    return {.engine = GetParam().engine, .device = GetParam().device, .metric = metric, .period = std::move(period)};
  }
};

TEST_P(Torus, TheWayAroundMayBeShorter) {
  const float points[] = {0.5f, 9.5f, 4, 9, 1, 1};
  const Index index = Index::build(PointView(points, 3, 2), options({10, 0}));
  const float queries[] = {9.5f, 9.5f, -0.5f, 9.5f, 109.5f, 9.5f, 0.5f, 0};
  const Neighbors near = index.knn(PointView(queries, 4, 2), 3);
  for (std::uint64_t q = 0; q < 3; ++q) {  // the same place three times
    EXPECT_EQ(near.index(q, 0), 0u);
    EXPECT_EQ(near.distance(q, 0), 1.0);
  }
  EXPECT_EQ(near.index(3, 0), 2u);  // the second axis does not wrap
  EXPECT_EQ(index.count(PointView(queries, 4, 2), 1), (std::vector<std::uint32_t>{1, 1, 1, 0}));
}

/// Wrapping by adding whole lengths must be what copies of all points in the neighbouring boxes give, in exact numbers.
TEST_P(Torus, EqualsCopiesOfTheBoxOnWholeNumbers) {
  std::mt19937_64 random(81);
  constexpr std::uint64_t kPoints = 150;
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf()}) {
    std::vector<double> points;
    for (std::uint64_t i = 0; i < 3 * kPoints; ++i) points.push_back(static_cast<double>(random() % 16));
    std::vector<double> queries;
    for (int i = 0; i < 60; ++i) queries.push_back(static_cast<double>(random() % 200) - 100);
    std::vector<double> copies;
    for (int x = -1; x <= 1; ++x) {
      for (int z = -1; z <= 1; ++z) {
        for (std::uint64_t i = 0; i < kPoints; ++i) {
          copies.insert(copies.end(), {points[3 * i] + 16 * x, points[3 * i + 1], points[3 * i + 2] + 20 * z});
        }
      }
    }
    const Index torus = Index::build(PointView(points.data(), kPoints, 3), options({16, 0, 20}, metric));
    const Index plain = Index::build(PointView(copies.data(), 9 * kPoints, 3), options({}, metric));
    std::vector<double> moved = queries;
    for (std::size_t i = 0; i < moved.size(); i += 3) {
      moved[i] -= 16 * std::floor(moved[i] / 16);
      moved[i + 2] -= 20 * std::floor(moved[i + 2] / 20);
    }
    const Neighbors around = torus.knn(PointView(queries.data(), 20, 3), 1);
    const Neighbors expected = plain.knn(PointView(moved.data(), 20, 3), 1);
    for (std::uint64_t q = 0; q < 20; ++q) EXPECT_EQ(around.distance(q, 0), expected.distance(q, 0)) << metric.name();
  }
}

TEST_P(Torus, ManyPointsOnManyThreadsEqualTheOracle) {
  std::mt19937_64 random(82);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 4000, 3, random);
  const PointSet queries = nasty_points(NastyShape::huge_offset, DType::f32, 10, 3, random);
  const PointView asked = queries.view();
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf()}) {
    const Request request{.points = points.view(), .queries = &asked, .metric = metric, .period = {1, 0, 1}};
    const Index index = Index::build(points.view(), options({1, 0, 1}, metric));
    for (const int threads : {1, 2, 5}) {
      expect_same(oracle_knn(request, 70), index.knn(asked, 70, {.threads = threads}));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Available, Torus, testing::ValuesIn(available_engines()));

TEST(Period, SaysWhatIsWrong) {
  const float points[] = {0.5f, 0.5f, 1, 0.5f, 0.25f, -0.5f};
  const PointView view(points, 3, 2);
  const auto refused = [&](std::vector<double> period, Metric metric = Metric::l2()) {
    return thrown_message<UsageError>([&] { Index::build(view, {.metric = metric, .period = std::move(period)}); });
  };
  EXPECT_PRED2(holds, refused({1}), "period: 1 length for 2 dimensions");
  EXPECT_PRED2(holds, refused({1, -1}), "the length -1 of axis 1");
  EXPECT_PRED2(holds, refused({std::nan(""), 1}), "the length nan of axis 0");
  EXPECT_PRED2(holds, refused({1, std::numeric_limits<double>::infinity()}), "the length inf of axis 1");
  EXPECT_PRED2(holds, refused({1e300, 1}), "not a positive f32 number");
  EXPECT_PRED2(holds, refused({1e-300, 1}), "not a positive f32 number");
  EXPECT_PRED2(holds, refused({1, 1}, Metric::cosine()),
               "periodic axes exist for l2, l1, linf, lp:P only, not for cosine");
  EXPECT_PRED2(holds, refused({1, 1}, Metric::canberra()), "not for canberra");
  EXPECT_NO_THROW(Index::build(view, {.metric = Metric::cosine(), .period = {0, 0}}));

  const std::string outside = thrown_message<BadData>([&] { Index::build(view, {.period = {1, 1}}); });
  EXPECT_PRED2(holds, outside, "points: row 1, column 0 (counted from 0) is 1, outside [0, 1)");
  EXPECT_PRED2(holds, outside, "2 rows are outside in all");
  EXPECT_PRED2(holds, thrown_message<BadData>([&] {
                 Index::build(view, {.period = {0, 1}});
               }),
               "row 2, column 1 (counted from 0) is -0.5");
  EXPECT_NO_THROW(Index::build(view.slice(0, 1), {.period = {1, 1}}));

  const float spoiled[] = {std::numeric_limits<float>::quiet_NaN(), 7, 5, 0};
  EXPECT_PRED2(holds, thrown_message<BadData>([&] {
                 Index::build(PointView(spoiled, 2, 2), {.period = {1, 1}, .skip_nonfinite = true});
               }),
               "row 1, column 0 (counted from 0) is 5");
}

template <typename T>
void expect_wrapped() {
  std::mt19937_64 random(83);
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr T kLeast = std::numeric_limits<T>::denorm_min();
  const T lengths[] = {1, 3, T(0.1), kLeast, 7 * kLeast, kMost, std::numeric_limits<T>::min(), T(1e10)};
  for (const T length : lengths) {
    for (int i = 0; i < 3000; ++i) {
      const double scale = std::pow(10.0, static_cast<double>(random() % 60) - 30);
      const T x = i == 0   ? kMost
                  : i == 1 ? -kMost
                  : i == 2 ? -kLeast
                  : i == 3 ? -length
                  : i == 4 ? std::nextafter(length, T(0))
                           : static_cast<T>((static_cast<double>(random() % 2001) - 1000) * scale);
      const T inside = core::wrapped(x, length);
      ASSERT_GE(inside, T(0)) << x << " on " << length;
      ASSERT_LT(inside, length) << x << " on " << length;
      if (x >= 0 && x < length) {
        ASSERT_EQ(inside, x);
      }
      ASSERT_EQ(core::wrapped(inside, length), inside);
    }
    EXPECT_EQ(core::wrapped(length, length), T(0));
    EXPECT_EQ(core::wrapped(-length, length), T(0));
  }
  EXPECT_EQ(core::wrapped(T(-5), std::numeric_limits<T>::infinity()), T(-5));
  EXPECT_EQ(core::wrapped(T(-0.25), T(1)), T(0.75));
  EXPECT_EQ(core::wrapped(T(10.5), T(4)), T(2.5));
}

TEST(Period, WrappedCoordinatesAreAlwaysInside) {
  expect_wrapped<float>();
  expect_wrapped<double>();
}

}  // namespace
}  // namespace kith::test
