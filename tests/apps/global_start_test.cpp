// Registration from nowhere: parts of surfaces that overlap by 40 %, turned by any angle, come together; clouds that
// say nothing end clearly.
#include <kith/apps/registration.hpp>

#include "support/moved_clouds.hpp"
#include "support/sanitized.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::apps::global_start_test {
using namespace kith::test;
namespace {

/// Two parts of a bumpy surface with points of their own: each is 1 / 1.6 of it, so that they share 40 % of each. The
/// source is moved by any turn and a shift farther than it is wide.
struct TwoParts {
  TwoParts(std::uint64_t count, std::uint32_t dims, std::uint64_t seed, bool level = false, bool keeps_z = false) {
    std::mt19937_64 random(seed);
    double axis[3] = {};
    for (std::uint32_t d = 0; d < dims; ++d) axis[d] = draw(random, -1, 1);
    const std::vector<double> all = bumpy_rows(count, dims, seed * 2 + 1), others = bumpy_rows(count, dims, seed * 2);
    std::vector<double> heights;
    for (std::uint64_t i = 0; i < count; ++i) heights.push_back(height(all, i, dims, axis));
    std::sort(heights.begin(), heights.end());
    const double low = heights[count * 3 / 8], high = heights[count * 5 / 8];
    for (std::uint64_t i = 0; i < count; ++i) {
      if (height(all, i, dims, axis) <= high) add(all, i, dims, there);
      if (height(others, i, dims, axis) >= low) add(others, i, dims, target);
    }
    truth = random_pose(dims, draw(random, 0, 3.141592653589793), 4, random, 1, level);
    if (keeps_z) truth(2, 3) = 0;
    source = before(truth, there, dims);
  }
  static double height(const std::vector<double>& rows, std::uint64_t i, std::uint32_t dims, const double* axis) {
    double sum = 0;
    for (std::uint32_t d = 0; d < dims; ++d) sum += rows[i * dims + d] * axis[d];
    return sum;
  }
  static void add(const std::vector<double>& rows, std::uint64_t i, std::uint32_t dims, std::vector<double>& to) {
    for (std::uint32_t d = 0; d < dims; ++d) to.push_back(rows[i * dims + d]);
  }

  std::vector<double> there;  ///< the source where it belongs
  std::vector<double> source;
  std::vector<double> target;
  Pose truth;
};

Registration registered(const TwoParts& parts, std::uint32_t dims, DType dtype, RegistrationOptions options = {}) {
  options.initial = InitialPose::global;
  return register_clouds(points_of(parts.source, dims, dtype).view(), points_of(parts.target, dims, dtype).view(),
                         options);
}

void expect_together(const Registration& found, const TwoParts& parts, std::uint32_t dims) {
  ASSERT_TRUE(found.global.has_value());
  EXPECT_TRUE(found.global->found);
  EXPECT_GE(found.global->consistent, 3u);
  EXPECT_LE(found.global->consistent, found.global->matches);
  EXPECT_GT(found.global->overlap, found.global->runner_up);
  EXPECT_LT(apart(found.global->pose, parts.truth, parts.source, dims), found.global->voxel) << "the start alone";
  EXPECT_LT(apart(found.transformation, parts.truth, parts.source, dims), 0.01);
}

TEST(GlobalStart, PartsThatOverlapByTwoFifthsComeTogetherFromAnyTurn) {
  for (std::uint64_t seed = 0; seed < (KITH_TEST_SLOW ? 4 : 12); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const DType dtype = seed % 2 == 0 ? DType::f32 : DType::f64;
    expect_together(registered(TwoParts(16000, 3, seed), 3, dtype), TwoParts(16000, 3, seed), 3);
    expect_together(registered(TwoParts(4000, 2, seed), 2, dtype), TwoParts(4000, 2, seed), 2);
  }
}

TEST(GlobalStart, TurnsAboutZAloneIfNothingElseMayMove) {
  for (std::uint64_t seed = 0; seed < (KITH_TEST_SLOW ? 1 : 4); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    for (const std::uint32_t freedom : {4u, 3u}) {
      const TwoParts parts(16000, 3, seed, true, freedom == 3);
      const Registration found = registered(parts, 3, DType::f64, {.degrees_of_freedom = freedom});
      expect_together(found, parts, 3);
      for (const Pose& pose : {found.global->pose, found.transformation}) {
        for (std::uint32_t i = 0; i < 3; ++i) EXPECT_NEAR(pose(2, i), i == 2 ? 1 : 0, 1e-12);
        EXPECT_NEAR(pose(2, 3), freedom == 3 ? 0 : pose(2, 3), 1e-12);
      }
    }
  }
}

/// Rows with one place before every so many.
std::vector<double> interleaved(const std::vector<double>& rows, std::uint64_t period) {
  std::vector<double> all;
  for (std::size_t i = 0; i < rows.size() / 3; ++i) {
    if (i % (period - 1) == 0) all.insert(all.end(), rows.begin(), rows.begin() + 3);
    all.insert(all.end(), rows.begin() + i * 3, rows.begin() + i * 3 + 3);
  }
  return all;
}

TEST(GlobalStart, RowsThatRepeatThemselvesLeadNowhereElse) {
  TwoParts parts(160000, 3, 3);  // of which every third row or so is looked at to choose the voxels
  const auto expected =
      global_start(points_of(parts.source, 3, DType::f32).view(), points_of(parts.target, 3, DType::f32).view());
  for (const std::uint64_t period : {2u, 3u, 4u, 6u}) {
    if (KITH_TEST_SLOW && period != 3) continue;
    const PointSet source = points_of(interleaved(parts.source, period), 3, DType::f32);
    const PointSet target = points_of(interleaved(parts.target, period), 3, DType::f32);
    const GlobalStart found = global_start(source.view(), target.view());
    EXPECT_TRUE(found.found) << "period " << period;
    EXPECT_LT(apart(found.pose, parts.truth, parts.source, 3), 2 * found.voxel) << "period " << period;
    EXPECT_GT(found.voxel, expected.voxel / 2) << "period " << period;
    EXPECT_LT(found.voxel, expected.voxel * 2) << "period " << period;
  }
}

TEST(GlobalStart, APointFarAwayMakesNoDifference) {
  TwoParts parts(16000, 3, 5);
  for (const double distance : {100.0, 1000.0}) {
    std::vector<double> target = parts.target;
    for (int d = 0; d < 3; ++d) target.push_back(distance * (d + 1));
    const PointSet source = points_of(parts.source, 3, DType::f64);
    const GlobalStart found = global_start(source.view(), points_of(target, 3, DType::f64).view());
    EXPECT_TRUE(found.found) << distance;
    EXPECT_LT(apart(found.pose, parts.truth, parts.source, 3), 2 * found.voxel) << distance;
  }
}

TEST(GlobalStart, RefusesVoxelsThatAreTooMany) {
  const PointSet points = points_of(bumpy_rows(300000, 3, 1), 3, DType::f32);
  EXPECT_THROW(global_start(points.view(), points.view(), {.global_voxel = 1e-5}), UsageError);
}

TEST(GlobalStart, LevelTurnsOfHugeAndTinyCloudsAreFound) {
  TwoParts parts(8000, 3, 2, true);
  for (const double scale : {1e-80, 1e80}) {
    std::vector<double> source = parts.source, target = parts.target;
    for (double& value : source) value *= scale;
    for (double& value : target) value *= scale;
    const GlobalStart found = global_start(points_of(source, 3, DType::f64).view(),
                                           points_of(target, 3, DType::f64).view(), {.degrees_of_freedom = 4});
    EXPECT_TRUE(found.found) << scale;
    EXPECT_NEAR(found.pose(0, 0), parts.truth(0, 0), 0.05) << scale;
    EXPECT_NEAR(found.pose(1, 0), parts.truth(1, 0), 0.05) << scale;
  }
}

void expect_same_start(const GlobalStart& a, const GlobalStart& b) {
  EXPECT_EQ(a.pose, b.pose);
  EXPECT_EQ(a.found, b.found);
  EXPECT_EQ(a.voxel, b.voxel);
  EXPECT_EQ(a.source_points, b.source_points);
  EXPECT_EQ(a.target_points, b.target_points);
  EXPECT_EQ(a.matches, b.matches);
  EXPECT_EQ(a.consistent, b.consistent);
  EXPECT_EQ(a.overlap, b.overlap);
  EXPECT_EQ(a.runner_up, b.runner_up);
}

TEST(GlobalStart, HasTheSameBytesByEveryPath) {
  for (const std::uint32_t dims : {2u, 3u}) {
    const TwoParts parts(dims == 2 ? 4000 : 12000, dims, 5);
    for (const DType dtype : {DType::f32, DType::f64}) {
      const PointSet source = points_of(parts.source, dims, dtype), target = points_of(parts.target, dims, dtype);
      RegistrationOptions options{.initial = InitialPose::global};
      options.threads = 1;
      const Registration expected = register_clouds(source.view(), target.view(), options);
      const RegistrationTarget prepared(target.view(), options);
      for (const int threads : {1, 2, 5}) {
        if (KITH_TEST_SLOW && threads != 2) continue;
        options.threads = threads;
        const Registration found = register_clouds(source.view(), target.view(), options);
        const Registration aligned = prepared.align(source.view(), options);
        EXPECT_EQ(found.transformation, expected.transformation);
        EXPECT_EQ(aligned.transformation, expected.transformation);
        expect_same_start(*found.global, *expected.global);
        expect_same_start(*aligned.global, *expected.global);
        expect_same_start(global_start(source.view(), target.view(), options), *expected.global);
      }
    }
  }
}

TEST(GlobalStart, FarFromTheOriginLosesNothing) {
  TwoParts parts(12000, 3, 8);
  for (double& x : parts.source) x += 4194304;
  for (double& x : parts.target) x -= 4194304;
  const Registration found = registered(parts, 3, DType::f64);
  double most = 0;
  for (std::uint64_t i = 0; i < parts.there.size(); i += 3) {
    for (std::uint32_t d = 0; d < 3; ++d) {
      double moved = found.transformation(d, 3);
      for (std::uint32_t e = 0; e < 3; ++e) moved += found.transformation(d, e) * parts.source[i + e];
      most = std::max(most, std::abs(moved - (parts.there[i + d] - 4194304)));
    }
  }
  EXPECT_LT(most, 0.01);
}

TEST(GlobalStart, TakesTheVoxelsThatAreGiven) {
  const TwoParts parts(16000, 3, 1);
  const Registration coarse = registered(parts, 3, DType::f64, {.global_voxel = 0.1});
  const Registration fine = registered(parts, 3, DType::f64, {.global_voxel = 0.05});
  EXPECT_EQ(coarse.global->voxel, 0.1);
  EXPECT_EQ(fine.global->voxel, 0.05);
  EXPECT_GT(fine.global->source_points, 2 * coarse.global->source_points);
}

TEST(GlobalStart, IsNotLookedForWithAPose) {
  const TwoParts parts(2000, 3, 1);
  EXPECT_FALSE(registered(parts, 3, DType::f64, {.initial_pose = parts.truth}).global.has_value());
}

/// Whatever the clouds are: no NaN, no exception, the centroid where nothing is found.
TEST(GlobalStart, OfCloudsThatSayNothingEndsClearly) {
  std::mt19937_64 random(3);
  std::vector<double> equal, line, plane, grid, noise;
  for (int i = 0; i < 900; ++i) {
    const double x = draw(random, 0, 1), y = draw(random, 0, 1), z = draw(random, 0, 1);
    equal.insert(equal.end(), {1, 2, 3});
    line.insert(line.end(), {x, 2 * x, 3 * x});
    plane.insert(plane.end(), {x, y, 0});
    grid.insert(grid.end(), {static_cast<double>(i % 30), static_cast<double>(i / 30), 0});
    noise.insert(noise.end(), {x, y, z});
  }
  const std::vector<double> none, one = {1, 2, 3}, few = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::vector<double> tiny = noise, huge = noise;
  for (double& x : tiny) x *= 1e-300;
  for (double& x : huge) x = (x - 0.5) * 1e300;
  const std::vector<double>* clouds[] = {&none, &one, &few, &equal, &line, &plane, &grid, &noise, &tiny, &huge};
  for (const auto* source : clouds) {
    for (const auto* target : clouds) {
      for (const std::uint32_t freedom : {6u, 3u}) {
        SCOPED_TRACE(testing::Message() << source->size() << " values onto " << target->size() << ", " << freedom);
        RegistrationOptions options{.initial = InitialPose::global, .degrees_of_freedom = freedom};
        const PointSet from = points_of(*source, 3, DType::f64), to = points_of(*target, 3, DType::f64);
        const Registration found = register_clouds(from.view(), to.view(), options);
        EXPECT_TRUE(is_finite(found.transformation));
        ASSERT_TRUE(found.global.has_value());
        EXPECT_TRUE(is_finite(found.global->pose));
        EXPECT_TRUE(found.global->overlap >= 0 && found.global->overlap <= 1);
        if (found.global->found) continue;
        EXPECT_EQ(found.global->pose, Pose{});
        options.initial = InitialPose::centroid;
        EXPECT_EQ(found.transformation, register_clouds(from.view(), to.view(), options).transformation);
      }
    }
  }
}

TEST(GlobalStart, SkipsPointsWithNaNIfThatIsWanted) {
  TwoParts parts(12000, 3, 4);
  const Registration whole = registered(parts, 3, DType::f64);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  parts.source.insert(parts.source.begin(), {nan, 0, 0});
  parts.target.insert(parts.target.end(), {0, nan, 0});
  EXPECT_THROW(registered(parts, 3, DType::f64), BadData);
  EXPECT_THROW(
      global_start(points_of(parts.source, 3, DType::f64).view(), points_of(parts.target, 3, DType::f64).view()),
      BadData);
  const Registration skipped = registered(parts, 3, DType::f64, {.skip_nonfinite = true});
  EXPECT_EQ(skipped.transformation, whole.transformation);
  EXPECT_EQ(skipped.skipped_source, 1u);
}

TEST(GlobalStart, RefusesWhatItDoesNotHave) {
  const TwoParts parts(500, 3, 4);
  EXPECT_THROW(registered(parts, 3, DType::f64, {.scale = true}), UsageError);
  EXPECT_THROW(registered(parts, 3, DType::f64, {.global_voxel = -1}), UsageError);
  EXPECT_THROW(registered(parts, 3, DType::f64, {.first_distance = -1}), UsageError);
  EXPECT_EQ(name_of(parse_initial_pose("global")), "global");
}

}  // namespace
}  // namespace kith::apps::global_start_test
