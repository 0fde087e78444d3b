// Matches that are kept from search to search are those of a fresh search after every motion.
#include "apps/register/nearest_matches.hpp"

#include "support/moved_clouds.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::apps::nearest_matches_test {
using namespace kith::test;
namespace {

/// Coordinates of one kind: scattered, on a grid (many ties), few places (many duplicates), or a line of the grid.
std::vector<double> rows_of_kind(int kind, std::uint64_t count, std::uint32_t dims, std::mt19937_64& random) {
  std::vector<double> rows;
  for (std::uint64_t i = 0; i < count * dims; ++i) {
    const double x = draw(random, -1, 1);
    rows.push_back(kind == 0 ? x : kind == 1 ? std::round(x * 6) / 6 : std::round(x * 2) / 2);
  }
  return rows;
}

/// Steps become smaller and smaller, as those of a registration; some are 0, and some exactly one step of the grid.
core::MotionStep random_step(std::uint32_t dims, int iteration, std::mt19937_64& random) {
  core::MotionStep step;
  if (iteration % 5 == 4) return step;
  const double size = std::ldexp(0.25, -iteration);
  if (dims == 3) {
    step.turn[0] = draw(random, -size, size);
    step.turn[1] = draw(random, -size, size);
  }
  step.turn[2] = draw(random, -size, size);
  for (std::uint32_t d = 0; d < dims; ++d) step.shift[d] = draw(random, -size, size);
  if (iteration == 2) step = {{0, 0, 0}, {1.0 / 6, 0, 0}, 0};
  return step;
}

/// What the matches of later iterations are found by beside those of earlier ones.
enum class Aid { none, neighbors, hints };

template <typename T>
KeptNeighbors neighbors_of(const Index& index, const PointSet& target) {
  KeptNeighbors neighbors;
  PointSet normals(dtype_of<T>, target.rows(), target.dims());
  fit_planes<T>(index, target.values<T>(), {.count = 8, .threads = 1}, normals.values<T>(), {}, &neighbors);
  return neighbors;
}

/// The nearest points of every third point before it moves, but for some.
MatchHints hints_of(const Index& index, const PointSet& source) {
  MatchHints hints{{}, 3};
  const Neighbors nearest = index.knn(source.view(), 1);
  for (std::uint64_t i = 0; i < source.rows(); i += 3) {
    const std::uint32_t found = nearest.index(i, 0);
    hints.matches.push_back(i % 7 == 0 || found == nearest.missing() ? kNoMatch : found);
  }
  return hints;
}

template <typename T>
void expect_fresh_matches(std::uint64_t seed, int kind, std::uint32_t dims, double unit, Aid aid) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", kind " << kind << ", " << dims << " dims, unit " << unit
                                  << ", aid " << static_cast<int>(aid));
  std::mt19937_64 random(seed);
  const auto scaled = [&](std::uint64_t count) {
    std::vector<double> rows = rows_of_kind(kind, count, dims, random);
    for (double& x : rows) x *= unit;
    return points_of(rows, dims, dtype_of<T>);
  };
  const PointSet source = scaled(300), target = scaled(400);
  const Index index = Index::build(target.view());
  core::Frame frame;
  const KeptNeighbors neighbors = neighbors_of<T>(index, target);
  NearestMatches<T> matches(source.values<T>(), target.values<T>(), index, frame, 2,
                            aid == Aid::none ? nullptr : &neighbors,
                            aid == Aid::hints ? hints_of(index, source) : MatchHints{});
  core::Motion motion;
  std::uint64_t searched = 0, searched_first = 0;
  for (int iteration = 0; iteration < 16; ++iteration) {
    core::MotionStep step = random_step(dims, iteration, random);
    for (double& x : step.shift) x *= unit;
    core::apply_step(step, motion);
    const double reach = unit * std::max(0.05, 0.6 - 0.05 * iteration);
    matches.update(motion, reach);
    searched = matches.searched();
    if (iteration == 0) searched_first = searched;
    const Neighbors fresh = index.knn(PointView(matches.moved(0), source.rows(), dims), 1);
    for (std::uint64_t i = 0; i < source.rows(); ++i) {
      double squared = 0;
      for (std::uint32_t d = 0; d < dims; ++d) {
        const double apart = static_cast<double>(matches.moved(i)[d]) -
                             static_cast<double>(target.values<T>()[std::uint64_t{fresh.index(i, 0)} * dims + d]);
        squared += apart * apart;
      }
      if (std::isinf(fresh.distance(i, 0))) continue;  // squares that overflow are beyond every reach
      if (std::sqrt(squared) < reach * (1 - 1e-6)) {
        ASSERT_EQ(matches.match(i), fresh.index(i, 0)) << "point " << i << ", iteration " << iteration;
      }
    }
  }
  EXPECT_TRUE(kind != 0 || unit != 1 || searched < source.rows() / 4) << "hardly any match was kept";
  // A target that is dense compared with the distances of pairs lets most points be found by hints.
  EXPECT_EQ(aid == Aid::hints && kind == 0 && unit == 1 && searched_first == source.rows(), false) << "no hint helped";
}

TEST(NearestMatches, EqualThoseOfAFreshSearchAtEveryIteration) {
  for (std::uint64_t seed = 0; seed < (KITH_TEST_SLOW ? 2 : 8); ++seed) {
    for (int kind = 0; kind < 3; ++kind) {
      for (const std::uint32_t dims : {2u, 3u}) {
        for (const Aid aid : {Aid::none, Aid::neighbors, Aid::hints}) {
          expect_fresh_matches<float>(seed, kind, dims, 1, aid);
          expect_fresh_matches<double>(seed, kind, dims, 1, aid);
        }
      }
    }
  }
}

TEST(NearestMatches, OfTinyAndHugeCoordinatesAreTheIndexsToo) {
  for (std::uint64_t seed = 0; seed < (KITH_TEST_SLOW ? 1 : 4); ++seed) {
    for (int kind = 0; kind < 3; ++kind) {
      for (const Aid aid : {Aid::none, Aid::neighbors, Aid::hints}) {
        // Squares of these are no normal numbers any more, vanish, or overflow.
        for (const double unit : {1e-18, 1e-20, 1e-22, 1e-24, 1e18, 3e19, 1e25}) {
          expect_fresh_matches<float>(seed, kind, 3, unit, aid);
        }
        for (const double unit : {1e-152, 1e-155, 1e-160, 1e150, 2e154}) {
          expect_fresh_matches<double>(seed, kind, 2, unit, aid);
        }
      }
    }
  }
}

/// The bound of the others loses nearly all its digits where a point walks almost as far as they were away.
TEST(NearestMatches, BoundsHoldWherePointsWalkAsFarAsTheOthersWere) {
  std::mt19937_64 random(7);
  for (int repeat = 0; repeat < 200; ++repeat) {
    // Six points around the source's, the rest on the far side of where it goes.
    std::vector<double> rows;
    for (int i = 0; i < 6; ++i) rows.insert(rows.end(), {draw(random, -0.01, 0.01), draw(random, -0.01, 0.01)});
    for (int i = 0; i < 12; ++i) rows.insert(rows.end(), {1 + draw(random, -1e-6, 1e-6), draw(random, -1e-6, 1e-6)});
    const PointSet target = points_of(rows, 2, DType::f32);
    const PointSet source = points_of({0, 0}, 2, DType::f32);
    const Index index = Index::build(target.view());
    NearestMatches<float> matches(source.values<float>(), target.values<float>(), index, {}, 1);
    core::Motion motion;
    for (const double x : {0.0, 0.5, 0.9, 0.999999, 1.0}) {
      motion.shift[0] = x;
      matches.update(motion, 2);
      ASSERT_EQ(matches.match(0), index.knn(PointView(matches.moved(0), 1, 2), 1).index(0, 0)) << x;
    }
  }
}

}  // namespace
}  // namespace kith::apps::nearest_matches_test
