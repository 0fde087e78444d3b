// Filters, bounds, boxes and periodic axes on real clouds: every engine gives the bytes of brute force. Skips where the
// data is absent.
#include "support/engines.hpp"
#include "support/expect_same.hpp"

#include <kith/index.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

class RealCloud : public testing::TestWithParam<EngineOnDevice> {};

TEST_P(RealCloud, EqualsBruteForceOnASurface) {
  const std::string path = std::string(KITH_TEST_DATA) + "/stanford_bunny/bun_zipper.ply";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const io::PointFile file = io::read_points(path);
  const PointView points = file.view();
  const PointView queries = points.slice(20000, 300);
  std::mt19937_64 random(17);
  std::vector<std::uint64_t> allowed((points.rows() + 63) / 64);
  for (std::uint64_t& word : allowed) word = random();
  std::vector<std::uint32_t> below(queries.rows());
  for (std::uint32_t& bound : below) bound = static_cast<std::uint32_t>(random() % points.rows());
  PointSet upper = PointSet::copy_of(queries);
  for (float& x : upper.values<float>()) x += 0.004f;

  const Index index = Index::build(points, {.engine = GetParam().engine, .device = GetParam().device});
  const Index brute = Index::build(points, {.engine = Engine::brute_force});
  for (const int threads : {1, 2, 5}) {
    const SearchOptions filtered{.allowed = allowed, .index_below = below, .threads = threads};
    SearchOptions bounded = filtered;
    bounded.max_distance = 0.003;
    expect_same(brute.knn(queries, 9, filtered), index.knn(queries, 9, filtered));
    expect_same(brute.knn(queries, 40, bounded), index.knn(queries, 40, bounded));
    expect_same(brute.radius(queries, 0.003, filtered), index.radius(queries, 0.003, filtered));
    expect_same(brute.box(queries, upper.view(), filtered), index.box(queries, upper.view(), filtered));
    EXPECT_EQ(brute.box_count(queries, upper.view()), index.box_count(queries, upper.view(), {.threads = threads}));
  }
  EXPECT_GT(brute.box(queries, upper.view()).indices().size(), queries.rows());
}

/// Atoms of water in a cube that repeats. In units of 1e-5 nm all coordinates are whole numbers, so the copies of the
/// cube around it are exact too.
TEST_P(RealCloud, WaterInAPeriodicCubeEqualsItsCopies) {
  const std::string path = std::string(KITH_TEST_DATA) + "/molecules/spc216.gro";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  if (!knows_periods(GetParam())) GTEST_SKIP() << GetParam() << " knows no periodic axes";
  std::ifstream lines(path);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  const std::uint64_t atoms = std::stoull(line);
  constexpr double kLength = 186206;
  std::vector<double> cube;
  for (std::uint64_t i = 0; i < atoms; ++i) {
    std::getline(lines, line);
    for (std::size_t d = 0; d < 3; ++d) {
      const double x = std::round(std::stod(line.substr(20 + 8 * d, 8)) * 1e5);
      cube.push_back(x - std::floor(x / kLength) * kLength);
    }
  }
  std::getline(lines, line);
  ASSERT_EQ(std::round(std::stod(line) * 1e5), kLength);
  std::vector<double> copies;
  for (int shift = 0; shift < 27; ++shift) {
    for (std::uint64_t i = 0; i < atoms; ++i) {
      copies.insert(copies.end(),
                    {cube[3 * i] + kLength * (shift % 3 - 1), cube[3 * i + 1] + kLength * (shift / 3 % 3 - 1),
                     cube[3 * i + 2] + kLength * (shift / 9 - 1)});
    }
  }
  const PointView inside(cube.data(), atoms, 3);
  const PointView outside(copies.data(), 27 * atoms, 3);
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf()}) {
    const Index torus = Index::build(inside, {.engine = GetParam().engine,
                                              .device = GetParam().device,
                                              .metric = metric,
                                              .period = std::vector<double>(3, kLength)});
    const Index plain = Index::build(outside, {.metric = metric});
    const double radius = 35000;  // below half of the cube: no atom is found twice
    EXPECT_EQ(torus.count_self(radius), plain.count(inside, radius)) << metric.name();
    const Neighbors around = torus.knn_self(12);
    const Neighbors expected = plain.knn(inside, 12);
    EXPECT_EQ(around.distances(), expected.distances()) << metric.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Available, RealCloud, testing::ValuesIn(available_engines()));

}  // namespace
}  // namespace kith::test
