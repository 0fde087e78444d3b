// Registration of clouds that determine little or nothing: clear ends, never NaN; weak directions; bad options and
// rows.
#include <kith/apps/registration.hpp>

#include "support/moved_clouds.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::apps::registration_trouble_test {
using namespace kith::test;
namespace {

constexpr RegistrationMethod kMethods[] = {RegistrationMethod::point, RegistrationMethod::plane,
                                           RegistrationMethod::gicp};

/// By every method, type and rule; `check` sees each result after what holds for all.
template <typename Check>
void with_all(const std::vector<double>& source, const std::vector<double>& target, std::uint32_t dims,
              const Check& check) {
  for (const RegistrationMethod method : kMethods) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const bool scale : {false, true}) {
        for (const bool reciprocal : {false, true}) {
          SCOPED_TRACE(testing::Message() << name_of(method) << ", " << kith::name_of(dtype) << (scale ? ", scale" : "")
                                          << (reciprocal ? ", reciprocal" : ""));
          RegistrationOptions options{.method = method, .reciprocal = reciprocal, .scale = scale, .want_pairs = true};
          for (const InitialPose initial : {InitialPose::identity, InitialPose::centroid}) {
            options.initial = initial;
            const Registration found =
                register_clouds(points_of(source, dims, dtype).view(), points_of(target, dims, dtype).view(), options);
            EXPECT_TRUE(is_finite(found.transformation));
            EXPECT_FALSE(std::isnan(found.fitness) || std::isnan(found.inlier_rmse) || !(found.scale > 0));
            for (const double x : found.information) EXPECT_TRUE(std::isfinite(x));
            for (const WeakDirection& weak : found.weak) {
              EXPECT_TRUE(std::isfinite(weak.eigenvalue) && std::isfinite(weak.relative));
            }
            EXPECT_EQ(found.pairs.size(), found.inliers);
            if (initial == InitialPose::identity && !scale && !reciprocal) check(found, method);
          }
        }
      }
    }
  }
}

void expect_end(const std::vector<double>& source, const std::vector<double>& target, std::uint32_t dims,
                RegistrationEnd end) {
  with_all(source, target, dims, [&](const Registration& found, RegistrationMethod) {
    EXPECT_EQ(found.end, end) << explain(found.end);
    EXPECT_EQ(found.transformation, Pose{});
  });
}

TEST(RegistrationTrouble, TooFewPointsGiveTheInitialPose) {
  const std::vector<double> cloud = bumpy_rows(500, 3, 1);
  expect_end({}, {}, 3, RegistrationEnd::few_pairs);
  expect_end({}, cloud, 3, RegistrationEnd::few_pairs);
  expect_end(cloud, {}, 3, RegistrationEnd::few_pairs);
  expect_end({cloud.begin(), cloud.begin() + 3}, cloud, 3, RegistrationEnd::few_pairs);
  expect_end({cloud.begin(), cloud.begin() + 6}, cloud, 3, RegistrationEnd::few_pairs);
  expect_end({0, 0}, {0, 0}, 2, RegistrationEnd::few_pairs);
  const Registration empty =
      register_clouds(points_of({}, 3, DType::f64).view(), points_of(cloud, 3, DType::f64).view(),
                      {.initial_pose = Pose{{1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 1, 7, 0, 0, 0, 1}}});
  EXPECT_EQ(empty.transformation(1, 3), 6);
}

TEST(RegistrationTrouble, CloudsWithoutOverlapHaveNoPairs) {
  std::vector<double> there = bumpy_rows(400, 3, 2);
  for (double& x : there) x += 1000;
  expect_end(bumpy_rows(400, 3, 1), there, 3, RegistrationEnd::few_pairs);
}

TEST(RegistrationTrouble, PointsInOnePlaceStayThere) {
  const std::vector<double> one(90, 2.5);
  with_all(one, one, 3, [](const Registration& found, RegistrationMethod method) {
    EXPECT_EQ(found.transformation, Pose{});
    EXPECT_EQ(found.end,
              method == RegistrationMethod::plane ? RegistrationEnd::undetermined : RegistrationEnd::converged)
        << explain(found.end);
    EXPECT_EQ(found.inliers, 30u);
  });
  const std::vector<double> other(90, 3.5);
  expect_end(one, other, 3, RegistrationEnd::few_pairs);
}

TEST(RegistrationTrouble, ALineDoesNotTurnAboutItself) {
  std::vector<double> line, along;
  for (int i = 0; i < 200; ++i) {
    line.insert(line.end(), {i * 1.0, i * 0.5, i * 0.25});
    along.insert(along.end(), {i * 1.0 + 0.01, i * 0.5 + 0.002, i * 0.25});
  }
  with_all(line, along, 3, [&](const Registration& found, RegistrationMethod) {
    EXPECT_LT(apart(found.transformation, Pose{}, line, 3), 0.1);
  });
}

TEST(RegistrationTrouble, HugeAndTinyCoordinatesStayFinite) {
  for (const double unit : {1e-300, 1e-160, 1e-40, 1e-20, 1e18, 1e37, 1e100, 1e160, 1e300, 1.7e308}) {
    SCOPED_TRACE(unit);
    std::vector<double> rows = bumpy_rows(120, 3, 4), others = rows;
    for (double& x : rows) x = std::clamp(x, -1.0, 1.0) * unit;
    for (double& x : others) x = std::clamp(x + 0.01, -1.0, 1.0) * unit;
    for (const RegistrationMethod method : kMethods) {
      for (const InitialPose initial : {InitialPose::identity, InitialPose::centroid}) {
        const Registration found =
            register_clouds(points_of(rows, 3, DType::f64).view(), points_of(others, 3, DType::f64).view(),
                            {.method = method, .initial = initial});
        EXPECT_TRUE(is_finite(found.transformation));
        for (const double x : found.information) EXPECT_TRUE(std::isfinite(x));
        EXPECT_FALSE(std::isnan(found.inlier_rmse));
      }
    }
  }
}

TEST(RegistrationTrouble, RowsWithNaNAreRefusedOrLeftOut) {
  std::vector<double> source = bumpy_rows(800, 3, 5), target = source;
  for (double& x : source) x += 0.01;
  const Registration expected = register_clouds(points_of(source, 3, DType::f64).view(),
                                                points_of(target, 3, DType::f64).view(), {.want_pairs = true});
  // A bad row before every hundredth.
  const auto with_bad_rows = [](const std::vector<double>& rows) {
    std::vector<double> all;
    for (std::size_t i = 0; i < rows.size(); i += 3) {
      if (i % 300 == 0) all.insert(all.end(), {1, std::nan(""), 2});
      all.insert(all.end(), rows.begin() + static_cast<std::ptrdiff_t>(i),
                 rows.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    }
    return points_of(all, 3, DType::f64);
  };
  const PointSet bad_source = with_bad_rows(source), bad_target = with_bad_rows(target);
  const PointSet good = points_of(source, 3, DType::f64);
  EXPECT_NE(thrown_message<BadData>([&] { register_clouds(bad_source.view(), good.view()); }).find("source: row 0"),
            std::string::npos);
  EXPECT_NE(thrown_message<BadData>([&] { register_clouds(good.view(), bad_target.view()); }).find("target: row 0"),
            std::string::npos);
  const Registration found =
      register_clouds(bad_source.view(), bad_target.view(), {.skip_nonfinite = true, .want_pairs = true});
  EXPECT_EQ(found.transformation, expected.transformation);
  EXPECT_EQ(found.skipped_source, 8u);
  EXPECT_EQ(found.skipped_target, 8u);
  ASSERT_EQ(found.pairs.size(), expected.pairs.size());
  for (std::size_t i = 0; i < found.pairs.size(); ++i) {  // numbers are those of the clouds as given
    EXPECT_EQ(found.pairs[i].source, expected.pairs[i].source + expected.pairs[i].source / 100 + 1);
    EXPECT_EQ(found.pairs[i].target, expected.pairs[i].target + expected.pairs[i].target / 100 + 1);
  }
}

/// Random points of rectangles whose normals are along an axis: two corners each.
std::vector<double> rectangles(const std::vector<std::array<double, 6>>& sides, std::uint64_t each) {
  std::mt19937_64 random(6);
  std::vector<double> rows;
  for (const auto& side : sides) {
    for (std::uint64_t i = 0; i < each; ++i) {
      for (std::size_t d = 0; d < 3; ++d) rows.push_back(draw(random, side[d], side[3 + d]));
    }
  }
  return rows;
}

TEST(RegistrationTrouble, PlanesAndCorridorsAreWeak) {
  const PointSet plane = points_of(rectangles({{-5, -5, 1, 5, 5, 1}}, 3000), 3, DType::f64);
  const PointSet corridor = points_of(
      rectangles({{-9, -2, 0.5, 9, -2, 3}, {-9, 2, 0.5, 9, 2, 3}, {-9, -1.5, 0, 9, 1.5, 0}}, 2000), 3, DType::f64);
  for (const RegistrationMethod method : {RegistrationMethod::plane, RegistrationMethod::gicp}) {
    SCOPED_TRACE(name_of(method));
    const Registration flat = register_clouds(plane.view(), plane.view(), {.method = method});
    ASSERT_EQ(flat.weak.size(), 3u);  // both shifts within it, and the turn about its normal
    double turn_z = 0, shift_xy = 0;
    for (const WeakDirection& weak : flat.weak) {
      EXPECT_LT(weak.relative, 1e-6);
      turn_z += weak.turn[2] * weak.turn[2];
      shift_xy += weak.shift[0] * weak.shift[0] + weak.shift[1] * weak.shift[1];
    }
    EXPECT_NEAR(turn_z, 1, 1e-6);
    EXPECT_NEAR(shift_xy, 2, 1e-6);

    const Registration slides = register_clouds(corridor.view(), corridor.view(), {.method = method});
    ASSERT_EQ(slides.weak.size(), 1u);
    EXPECT_NEAR(std::abs(slides.weak[0].shift[0]), 1, 1e-6);
    EXPECT_LT(slides.weak[0].relative, 1e-6);

    const Registration level = register_clouds(plane.view(), plane.view(), {.method = method, .degrees_of_freedom = 4});
    EXPECT_EQ(level.weak.size(), 3u);
  }
  EXPECT_TRUE(register_clouds(plane.view(), plane.view(), {.method = RegistrationMethod::point}).weak.empty());
}

TEST(RegistrationTrouble, APlaneThatSlidesKeepsItsPlace) {
  std::vector<double> rows = rectangles({{-5, -5, 0, 5, 5, 0}}, 3000), above = rows;
  for (std::size_t i = 2; i < above.size(); i += 3) above[i] = 0.1;
  for (const RegistrationMethod method : {RegistrationMethod::plane, RegistrationMethod::gicp}) {
    const Registration found = register_clouds(points_of(above, 3, DType::f64).view(),
                                               points_of(rows, 3, DType::f64).view(), {.method = method});
    EXPECT_TRUE(found.converged());
    Pose down;
    down(2, 3) = -0.1;
    EXPECT_LT(apart(found.transformation, down, above, 3), 1e-6) << name_of(method);
  }
}

TEST(RegistrationTrouble, OptionsThatMakeNoSenseAreRefused) {
  const PointSet points = points_of(bumpy_rows(50, 3, 7), 3, DType::f64);
  const PointSet flat = points_of(bumpy_rows(50, 2, 7), 2, DType::f64);
  const PointSet narrow = points_of(bumpy_rows(50, 3, 7), 3, DType::f32);
  const auto refused = [&](const RegistrationOptions& options) {
    EXPECT_THROW(register_clouds(points.view(), points.view(), options), UsageError);
    EXPECT_THROW(RegistrationTarget(points.view()).align(points.view(), options), UsageError);
  };
  refused({.max_distance = -1});
  refused({.max_distance = std::nan("")});
  refused({.keep = 0});
  refused({.keep = 1.5});
  refused({.kernel = RobustKernel::huber});
  refused({.voxels = {-1}});
  refused({.degrees_of_freedom = 5});
  refused({.neighbors = 2});
  refused({.rotation_tolerance = -1});
  refused({.translation_tolerance = std::nan("")});
  refused({.threads = -1});
  Pose pose;
  pose(0, 0) = 2;  // no rotation
  refused({.initial_pose = pose});
  pose(0, 0) = -1;  // a mirror
  refused({.initial_pose = pose});
  pose = {};
  pose(0, 3) = std::numeric_limits<double>::infinity();
  refused({.initial_pose = pose});
  pose = {};
  pose(3, 0) = 1;
  refused({.initial_pose = pose});
  EXPECT_THROW(register_clouds(points.view(), flat.view()), UsageError);
  EXPECT_THROW(register_clouds(points.view(), narrow.view()), UsageError);
  pose = {};
  pose(2, 3) = 1;
  EXPECT_THROW(register_clouds(flat.view(), flat.view(), {.initial_pose = pose}), UsageError);
}

TEST(RegistrationTrouble, ScalesThatSquareToNothingAreRefused) {
  const PointSet points = points_of(bumpy_rows(30, 3, 2), 3, DType::f64);
  EXPECT_THROW(register_clouds(points.view(), points.view(), {.kernel = RobustKernel::cauchy, .kernel_scale = 1e-170}),
               UsageError);
}

TEST(RegistrationTrouble, PairsMayBeAnyDistanceApart) {
  const PointSet points = points_of(bumpy_rows(300, 3, 2), 3, DType::f32);
  const double anywhere = std::numeric_limits<double>::infinity();
  const Registration found = register_clouds(points.view(), points.view(), {.max_distance = anywhere});
  EXPECT_EQ(found.end, RegistrationEnd::converged);
  EXPECT_EQ(found.inliers, 300u);
}

TEST(RegistrationTrouble, NamesReadBack) {
  for (const char* name : {"auto", "point", "plane", "gicp"}) EXPECT_EQ(name_of(parse_registration_method(name)), name);
  for (const char* name : {"none", "huber", "cauchy", "tukey", "geman-mcclure"}) {
    EXPECT_EQ(name_of(parse_robust_kernel(name)), name);
  }
  for (const char* name : {"identity", "centroid"}) EXPECT_EQ(name_of(parse_initial_pose(name)), name);
  EXPECT_THROW(parse_registration_method("icp"), UsageError);
  EXPECT_THROW(parse_robust_kernel("l1"), UsageError);
  EXPECT_THROW(parse_initial_pose("fpfh"), UsageError);
}

TEST(RegistrationTrouble, ACallbackMayStopIt) {
  const PointSet points = points_of(bumpy_rows(3000, 3, 8), 3, DType::f32);
  EXPECT_THROW(register_clouds(points.view(), points.view(), {.progress = [](const Progress&) { return false; }}),
               Interrupted);
}

}  // namespace
}  // namespace kith::apps::registration_trouble_test
