// Points brought into the box of periodic axes: the same places as queries get, rows outside counted.
#include <kith/apps/wrap_points.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
PointSet column(std::vector<T> values) {
  return PointSet::copy_of(PointView(values.data(), dtype_of<T>, values.size(), 1, 1));
}

TEST(WrapPoints, PlacesAreTheSameAndThoseOutsideAreCounted) {
  PointSet points = column<double>({-5, -0.5, 0, 4.5, 5, 17, -105});
  const apps::PeriodicAxis axis{-5, 5};
  EXPECT_EQ(apps::wrap_points(points, {&axis, 1}), 3u);  // 5, 17 and -105
  const std::vector<double> expected = {5, 9.5, 0, 4.5, 5, 7, 5};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(points.values<double>()[i], expected[i]) << i;
}

TEST(WrapPoints, NanAndInfinityStayAndSoDoAxesThatDoNotWrap) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  PointSet points = column<float>({NAN, kInfinity, -kInfinity, 12});
  const apps::PeriodicAxis axis{0, 10};
  EXPECT_EQ(apps::wrap_points(points, {&axis, 1}), 1u);
  EXPECT_TRUE(std::isnan(points.values<float>()[0]));
  EXPECT_EQ(points.values<float>()[1], kInfinity);
  EXPECT_EQ(points.values<float>()[2], -kInfinity);
  EXPECT_EQ(points.values<float>()[3], 2);
  const apps::PeriodicAxis none;
  PointSet others = column<float>({-3, 12});
  EXPECT_EQ(apps::wrap_points(others, {&none, 1}), 0u);
  EXPECT_EQ(others.values<float>()[0], -3);
}

TEST(WrapPoints, TheIndexTakesWhatIsWrapped) {
  PointSet points = column<float>({-1e-30f, 9.999999f, 10, -10, 1e30f});
  const apps::PeriodicAxis axis{0, 10};
  apps::wrap_points(points, {&axis, 1});
  BuildOptions options;
  options.period = {10};
  EXPECT_EQ(Index::build(points.view(), options).size(), 5u);
}

TEST(WrapPoints, AxesThatAreNoneAreRefused) {
  PointSet points = column<double>({1});
  const std::vector<apps::PeriodicAxis> two(2);
  EXPECT_THROW(apps::wrap_points(points, two), UsageError);
  for (const apps::PeriodicAxis axis : {apps::PeriodicAxis{5, -5}, {0, INFINITY}, {NAN, 1}}) {
    EXPECT_THROW(apps::wrap_points(points, {&axis, 1}), UsageError);
  }
}

}  // namespace
}  // namespace kith::test
