// Moved points against the formula of one coordinate, and what poses do to each other.
#include <kith/apps/transform.hpp>

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::apps::transform_cases {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Pose random_pose(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any(-2, 2);
  Pose pose;
  for (int i = 0; i < 12; ++i) pose.matrix[i] = any(random);
  return pose;
}

template <typename T>
std::vector<T> random_values(std::uint64_t count, std::uint64_t seed, double offset = 0) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> any(-100, 100);
  std::vector<T> values;
  for (std::uint64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(any(random) + offset));
  return values;
}

template <typename T>
void expect_same_bytes(std::span<const T> expected, std::span<const T> found) {
  ASSERT_EQ(expected.size(), found.size());
  if (!expected.empty()) {
    EXPECT_EQ(std::memcmp(expected.data(), found.data(), expected.size_bytes()), 0);
  }
}

/// One coordinate by the documented formula; volatile keeps the compiler from fusing operations.
double coordinate(const Pose& pose, int row, const double* point, int dims) {
  volatile double sum = pose(row, 0) * point[0];
  for (int d = 1; d < dims; ++d) {
    const volatile double product = pose(row, d) * point[d];
    sum = sum + product;
  }
  return sum + pose(row, 3);
}

template <typename T>
void expect_the_formula(std::uint32_t dims, double offset) {
  const std::vector<T> values = random_values<T>(40000 * dims, dims, offset);
  const PointView points(values.data(), values.size() / dims, dims);
  const Pose pose = random_pose(7);
  std::vector<T> expected;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    double point[3] = {};
    for (std::uint32_t d = 0; d < dims; ++d) point[d] = points.at(i, d);
    for (std::uint32_t d = 0; d < dims; ++d) expected.push_back(static_cast<T>(coordinate(pose, d, point, dims)));
  }
  for (const int threads : {1, 2, 5}) {
    const PointSet moved = transform(points, pose, {.threads = threads});
    expect_same_bytes<T>(expected, moved.values<T>());
  }
}

TEST(Transform, FollowsTheFormula) {
  for (const std::uint32_t dims : {2u, 3u}) {
    for (const double offset : {0.0, 5.0e6}) {
      expect_the_formula<float>(dims, offset);
      expect_the_formula<double>(dims, offset);
    }
  }
}

TEST(Transform, TheIdentityChangesNothing) {
  const std::vector<float> values = random_values<float>(300, 1, 4e5);
  expect_same_bytes<float>(values, transform(PointView(values.data(), 100, 3), Pose{}).values<float>());
  expect_same_bytes<float>(values, turn_directions(PointView(values.data(), 100, 3), Pose{}).values<float>());
}

TEST(Transform, RowsMayLieApart) {
  const std::vector<double> values = {1, 2, 3, 9, 4, 5, 6, 9};
  Pose pose;
  pose(0, 3) = 10;
  const PointSet moved = transform(PointView(values.data(), DType::f64, 2, 3, 4), pose);
  EXPECT_EQ(std::vector<double>(moved.values<double>().begin(), moved.values<double>().end()),
            (std::vector<double>{11, 2, 3, 14, 5, 6}));
}

TEST(Transform, NoPointsAndOnePoint) {
  EXPECT_EQ(transform(PointView(), Pose{}).rows(), 0u);
  const std::vector<double> one = {1, 2};
  EXPECT_EQ(transform(PointView(one.data(), 1, 2), rotation_about_z(90)).view().at(0, 0), -2);
}

TEST(Transform, NamesBadRowsOrMakesThemNan) {
  const std::vector<double> values = {1, 2, 3, kInfinity, 5, 6};
  const PointView points(values.data(), 3, 2);
  try {
    transform(points, Pose{});
    FAIL();
  } catch (const BadRow& bad) {
    EXPECT_EQ(bad.row(), 1u);
    EXPECT_EQ(bad.column(), 1u);
  }
  const PointSet moved = transform(points, Pose{}, {.skip_nonfinite = true});
  EXPECT_EQ(moved.view().at(0, 1), 2);
  EXPECT_TRUE(std::isnan(moved.view().at(1, 0)) && std::isnan(moved.view().at(1, 1)));
  EXPECT_EQ(moved.view().at(2, 1), 6);
}

TEST(Transform, RefusesWhatIsNoPose) {
  const std::vector<double> values(12, 1);
  Pose pose;
  pose(1, 2) = kNan;
  EXPECT_THROW(transform(PointView(values.data(), 4, 3), pose), BadData);
  pose = {};
  pose(3, 0) = 1;
  EXPECT_THROW(transform(PointView(values.data(), 4, 3), pose), UsageError);
  EXPECT_THROW(transform(PointView(values.data(), 3, 4), Pose{}), UsageError);
  EXPECT_THROW(transform(PointView(values.data(), 12, 1), Pose{}), UsageError);
  EXPECT_THROW(transform(PointView(values.data(), 4, 3), Pose{}, {.threads = -1}), UsageError);
}

TEST(Transform, DirectionsKeepTheirLengthAndIgnoreTheTranslation) {
  Pose pose = rotation_about_z(30);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) pose(i, j) *= 4;
    pose(i, 3) = 100;
  }
  const std::vector<double> normals = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0.6, 0, 0.8};
  const PointSet turned = turn_directions(PointView(normals.data(), 4, 3), pose);
  const PointView view = turned.view();
  EXPECT_NEAR(view.at(0, 0), std::cos(30 * M_PI / 180), 1e-15);
  EXPECT_NEAR(view.at(0, 1), 0.5, 1e-15);
  EXPECT_EQ(view.at(1, 2), 1);
  EXPECT_EQ(view.at(2, 0), 0);
  EXPECT_NEAR(std::hypot(view.at(3, 0), view.at(3, 1), view.at(3, 2)), 1, 1e-15);
}

TEST(Poses, TheInverseUndoes) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "random_pose(" << seed << ")");
    const Pose pose = random_pose(seed);
    const Pose both = then(pose, inverse(pose));
    double largest = 1;
    for (const double value : inverse(pose).matrix) largest = std::max(largest, std::abs(value));
    for (int i = 0; i < 16; ++i) EXPECT_NEAR(both.matrix[i], Pose{}.matrix[i], 1e-14 * largest);
  }
  EXPECT_EQ(inverse(Pose{}), Pose{});
  EXPECT_EQ(inverse(rotation_about_z(90)), rotation_about_z(-90));
  Pose flat;
  flat(2, 2) = 0;
  EXPECT_THROW(inverse(flat), BadData);
}

TEST(Poses, ThenMovesByTheFirstBeforeTheSecond) {
  Pose shift;
  shift(0, 3) = 5;
  const Pose pose = then(shift, rotation_about_z(90));
  EXPECT_EQ(pose(0, 3), 0);
  EXPECT_EQ(pose(1, 3), 5);
}

TEST(Poses, QuarterTurnsAreExact) {
  for (const auto& [degrees, cosine, sine] :
       {std::tuple{0, 1, 0}, {90, 0, 1}, {180, -1, 0}, {270, 0, -1}, {360, 1, 0}, {-90, 0, -1}}) {
    const Pose pose = rotation_about_z(degrees);
    EXPECT_EQ(pose(0, 0), cosine);
    EXPECT_EQ(pose(0, 1), -sine);
    EXPECT_EQ(pose(1, 0), sine);
    EXPECT_EQ(pose(1, 1), cosine);
    for (const double value : pose.matrix) EXPECT_FALSE(std::signbit(value) && value == 0);
  }
  EXPECT_THROW(rotation_about_z(361), UsageError);
  EXPECT_THROW(rotation_about_z(kNan), UsageError);
}

}  // namespace
}  // namespace kith::apps::transform_cases
