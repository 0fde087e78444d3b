// Registration of real scans with poses that others measured. Skips where the data is absent.
#include <kith/apps/registration.hpp>

#include "support/moved_clouds.hpp"
#include "support/sanitized.hpp"

#include <kith/apps/transform.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace kith::apps::registration_data_test {
using namespace kith::test;
namespace {

const std::string kData = KITH_TEST_DATA;

Pose product(const Pose& a, const Pose& b) {
  Pose result;
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      result(i, j) = 0;
      for (std::uint32_t k = 0; k < 4; ++k) result(i, j) += a(i, k) * b(k, j);
    }
  }
  return result;
}

/// Of a rotation and a shift.
Pose undone(const Pose& pose) {
  Pose result;
  for (std::uint32_t i = 0; i < 3; ++i) {
    result(i, 3) = 0;
    for (std::uint32_t j = 0; j < 3; ++j) {
      result(i, j) = pose(j, i);
      result(i, 3) -= pose(j, i) * pose(j, 3);
    }
  }
  return result;
}

/// Radians between the rotations of two poses.
double turn_between(const Pose& a, const Pose& b) {
  const Pose between = product(undone(a), b);
  // The sine, from the part that is not symmetric, is exact for small turns.
  const double x = between(2, 1) - between(1, 2), y = between(0, 2) - between(2, 0), z = between(1, 0) - between(0, 1);
  return std::atan2(std::sqrt(x * x + y * y + z * z), between(0, 0) + between(1, 1) + between(2, 2) - 1);
}

/// The pose of a scan of the Stanford bunny: p_world = R(q)^T p + t with q = (x, y, z, w).
Pose bunny_pose(const std::string& scan) {
  std::ifstream file(kData + "/stanford_bunny/bun.conf");
  std::string line, word, name;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    double t[3], x, y, z, w;
    words >> word >> name >> t[0] >> t[1] >> t[2] >> x >> y >> z >> w;
    if (name != scan) continue;
    const double r[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                            {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                            {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    Pose pose;
    for (std::uint32_t i = 0; i < 3; ++i) {
      for (std::uint32_t j = 0; j < 3; ++j) pose(i, j) = r[j][i];
      pose(i, 3) = t[i];
    }
    return pose;
  }
  throw std::runtime_error(scan + " is not in bun.conf");
}

class RegistrationData : public testing::TestWithParam<RegistrationMethod> {
 protected:
  /// False, with the test skipped, where a file is absent.
  static bool is_here(const std::string& path) { return std::filesystem::exists(kData + "/" + path); }
  static PointSet read(const std::string& path) {
    return io::read_points(kData + "/" + path, {.dtype = DType::f32}).points;
  }
};

/// From a start that is 5 degrees and 5 mm off, to the poses that the scans were published with: those were made by an
/// alignment of all scans at once, and differ from one of a pair by their own error of about half a millimetre.
TEST_P(RegistrationData, BunnyScansComeToTheirPoses) {
  for (const auto& [from, to] : {std::pair{"bun045.ply", "bun000.ply"}, std::pair{"bun090.ply", "bun045.ply"}}) {
    if (!is_here(std::string("stanford_bunny/") + from)) GTEST_SKIP() << "the Stanford bunny is not here";
    SCOPED_TRACE(from);
    const PointSet source = read(std::string("stanford_bunny/") + from),
                   target = read(std::string("stanford_bunny/") + to);
    const Pose truth = product(undone(bunny_pose(to)), bunny_pose(from));
    std::mt19937_64 random(1);
    const Pose start = product(random_pose(3, 0.087, 0.005, random), truth);
    const Registration found =
        register_clouds(source.view(), target.view(),
                        {.method = GetParam(), .initial_pose = start, .keep = 0.9, .max_iterations = 400});
    std::vector<double> rows;
    for (const float x : source.values<float>()) rows.push_back(static_cast<double>(x));
    EXPECT_TRUE(found.converged()) << explain(found.end);
    EXPECT_LT(turn_between(found.transformation, truth), 0.017) << "one degree";
    EXPECT_LT(apart(found.transformation, truth, rows, 3), 0.002) << "two millimetres";
    EXPECT_GT(found.fitness, 0.4);
    EXPECT_LT(found.inlier_rmse, 0.001);
  }
}

TEST_P(RegistrationData, CarScansComeToTheirPose) {
  if (!is_here("libpointmatcher/car_cloud400.csv")) GTEST_SKIP() << "the scans of libpointmatcher are not here";
  const PointSet target =
      io::read_points(kData + "/libpointmatcher/car_cloud400.csv", {.dtype = DType::f64, .columns = {"x", "y", "z"}})
          .points;
  const PointSet source = io::read_points(kData + "/libpointmatcher/car_cloud401.csv", {.dtype = DType::f64}).points;
  Pose truth;
  truth.matrix = {0.981715, 0.169605, -0.0864239, 0.0614127,  -0.152902, 0.973034, 0.172703, 0.191433,
                  0.113385, -0.15633, 0.981175,   -0.0338571, 0,         0,        0,        1};
  const Registration found = register_clouds(source.view(), target.view(), {.method = GetParam(), .keep = 0.8});
  EXPECT_TRUE(found.converged()) << explain(found.end);
  EXPECT_LT(turn_between(found.transformation, truth), 0.035) << "two degrees";
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_NEAR(found.transformation(i, 3), truth(i, 3), 0.15) << "metres";
}

/// Where only the nearest pairs count, the distance of pairs must not shrink by them: it took the pairs with it. From a
/// start that is 30 degrees off, to the same accuracy as from a near one.
TEST_P(RegistrationData, NearestPairsLeadAsFarAsAll) {
  if (!is_here("stanford_bunny/bun045.ply")) GTEST_SKIP() << "the Stanford bunny is not here";
  const PointSet source = read("stanford_bunny/bun045.ply"), target = read("stanford_bunny/bun000.ply");
  const Pose truth = product(undone(bunny_pose("bun000.ply")), bunny_pose("bun045.ply"));
  std::vector<double> rows;
  for (const float x : source.values<float>()) rows.push_back(static_cast<double>(x));
  for (std::uint64_t seed = 1; seed <= (KITH_TEST_SLOW ? 1 : 4); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    // About a place within the bunny, so that it stays there.
    Pose there, turn = random_pose(3, 0.5236, 0.005, random);
    there(1, 3) = 0.1;
    const Pose start = product(product(product(there, turn), undone(there)), truth);
    const Registration found =
        register_clouds(source.view(), target.view(),
                        {.method = GetParam(), .initial_pose = start, .keep = 0.8, .max_iterations = 400});
    EXPECT_TRUE(found.converged()) << explain(found.end);
    EXPECT_LT(apart(found.transformation, truth, rows, 3), 0.002) << "two millimetres";
  }
}

/// The scans turned by anything; the third pair has less than half of the source in common with the target.
TEST(GlobalStartData, BunnyScansAreFoundFromAnyTurn) {
  for (const auto& [from, to] : {std::pair{"bun045.ply", "bun000.ply"}, std::pair{"bun090.ply", "bun045.ply"},
                                 std::pair{"bun090.ply", "bun000.ply"}}) {
    const std::string folder = kData + "/stanford_bunny/";
    if (!std::filesystem::exists(folder + from)) GTEST_SKIP() << "the Stanford bunny is not here";
    const PointSet scan = io::read_points(folder + from, {.dtype = DType::f32}).points;
    const PointSet target = io::read_points(folder + to, {.dtype = DType::f32}).points;
    const Pose truth = product(undone(bunny_pose(to)), bunny_pose(from));
    std::vector<double> rows;
    for (const float x : scan.values<float>()) rows.push_back(static_cast<double>(x));
    for (std::uint64_t seed = 0; seed < (KITH_TEST_SLOW ? 1 : 4); ++seed) {
      SCOPED_TRACE(testing::Message() << from << ", seed " << seed);
      std::mt19937_64 random(seed);
      const Pose turn = random_pose(3, draw(random, 0, 3.141592653589793), 1, random);
      const PointSet source = transform(scan.view(), turn);
      const Registration found = register_clouds(source.view(), target.view(), {.initial = InitialPose::global});
      EXPECT_TRUE(found.converged()) << explain(found.end);
      EXPECT_LT(apart(product(found.global->pose, turn), truth, rows, 3), 0.005) << "the start alone";
      EXPECT_LT(apart(product(found.transformation, turn), truth, rows, 3), 0.002) << "two millimetres";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, RegistrationData,
                         testing::Values(RegistrationMethod::point, RegistrationMethod::plane,
                                         RegistrationMethod::gicp),
                         [](const auto& method) { return std::string(name_of(method.param)); });

}  // namespace
}  // namespace kith::apps::registration_data_test
