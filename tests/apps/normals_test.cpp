// Normals against the definition, by brute force and in long double; on planes and spheres; and their directions.
#include <kith/apps/normals.hpp>

#include "support/moved_clouds.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kith::apps::normals_test {
using namespace kith::test;
namespace {

/// The nearest rows of a row by the contract's order, itself included.
template <typename T>
std::vector<std::uint32_t> plain_neighbors(const PointSet& points, std::uint64_t row, std::uint32_t count,
                                           std::optional<double> radius) {
  const std::span<const T> values = points.values<T>();
  std::vector<std::pair<T, std::uint32_t>> all;
  for (std::uint32_t i = 0; i < points.rows(); ++i) {
    T squared = 0;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      const T step = values[row * points.dims() + d] - values[std::uint64_t{i} * points.dims() + d];
      squared = std::fma(step, step, squared);
    }
    if (!radius || static_cast<double>(std::sqrt(squared)) <= *radius) all.emplace_back(squared, i);
  }
  std::sort(all.begin(), all.end());
  if (!radius && all.size() > count) all.resize(count);
  std::vector<std::uint32_t> rows;
  for (const auto& [squared, i] : all) rows.push_back(i);
  return rows;
}

/// The mean squared distance of rows from their mean along a direction, and in all directions together.
template <typename T>
struct Spread {
  Spread(const PointSet& points, const std::vector<std::uint32_t>& rows) : dims(points.dims()) {
    const std::span<const T> values = points.values<T>();
    std::vector<long double> mean(dims);
    for (const std::uint32_t row : rows) {
      for (std::uint32_t d = 0; d < dims; ++d) {
        mean[d] +=
            static_cast<long double>(values[std::uint64_t{row} * dims + d]) / static_cast<long double>(rows.size());
      }
    }
    for (std::uint32_t d = 0; d < dims; ++d) {
      for (std::uint32_t e = 0; e < dims; ++e) {
        for (const std::uint32_t row : rows) {
          covariance[d][e] += (values[std::uint64_t{row} * dims + d] - mean[d]) *
                              (values[std::uint64_t{row} * dims + e] - mean[e]) / static_cast<long double>(rows.size());
        }
      }
      total += covariance[d][d];
    }
  }

  long double along(const std::vector<long double>& direction) const {
    long double sum = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
      for (std::uint32_t e = 0; e < dims; ++e) sum += direction[d] * covariance[d][e] * direction[e];
    }
    return sum;
  }

  /// The least over all directions: the least eigenvalue, by rotations that make one pair of entries vanish after
  /// another.
  long double least() const {
    long double a[3][3];
    std::copy(&covariance[0][0], &covariance[0][0] + 9, &a[0][0]);
    for (int sweep = 0; sweep < 60; ++sweep) {
      for (std::uint32_t p = 0; p < dims; ++p) {
        for (std::uint32_t q = p + 1; q < dims; ++q) {
          const long double angle = std::atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
          const long double c = std::cos(angle), s = std::sin(angle);
          for (std::uint32_t i = 0; i < dims; ++i) {
            const long double x = a[i][p], y = a[i][q];
            a[i][p] = c * x - s * y;
            a[i][q] = s * x + c * y;
          }
          for (std::uint32_t i = 0; i < dims; ++i) {
            const long double x = a[p][i], y = a[q][i];
            a[p][i] = c * x - s * y;
            a[q][i] = s * x + c * y;
          }
        }
      }
    }
    long double value = a[0][0];
    for (std::uint32_t d = 1; d < dims; ++d) value = std::min(value, a[d][d]);
    return value;
  }

  std::uint32_t dims;
  long double covariance[3][3] = {};
  long double total = 0;
};

template <typename T>
void expect_definition(const PointSet& points, const NormalsOptions& options) {
  const Normals found = normals(points.view(), options);
  const std::uint32_t dims = points.dims();
  const long double tolerance = 8 * std::numeric_limits<T>::epsilon();
  for (std::uint64_t row = 0; row < points.rows(); ++row) {
    const Spread<T> spread(points, plain_neighbors<T>(points, row, options.neighbors, options.radius));
    const T* normal = found.normals.values<T>().data() + row * dims;
    const long double curvature = found.curvature.values<T>()[row];
    std::vector<long double> direction(normal, normal + dims);
    long double length = 0;
    for (const long double x : direction) length += x * x;
    if (length == 0) {
      EXPECT_TRUE(spread.total == 0 || plain_neighbors<T>(points, row, options.neighbors, options.radius).size() < dims)
          << "row " << row;
      continue;
    }
    ASSERT_NEAR(static_cast<double>(length), 1, static_cast<double>(tolerance)) << "row " << row;
    for (long double& x : direction) x /= std::sqrt(length);
    // A direction that is off by an angle a adds at most a^2 of the total.
    const long double least = spread.least();
    const long double allowed = spread.total * std::max(tolerance * tolerance * 64, 1e-12L);
    ASSERT_LE(spread.along(direction), least + allowed) << "row " << row;
    ASSERT_NEAR(static_cast<double>(curvature), static_cast<double>(least / spread.total),
                static_cast<double>(std::max(tolerance, 1e-12L)))
        << "row " << row;
    const auto largest =
        std::max_element(direction.begin(), direction.end(), [](auto a, auto b) { return std::abs(a) < std::abs(b); });
    ASSERT_TRUE(options.direction != NormalDirection::axis || *largest > 0) << "row " << row;
  }
}

TEST(Normals, AreTheDirectionOfTheLeastSpread) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::uint32_t dims = 2 + seed % 2;
    const std::vector<double> rows = bumpy_rows(160, dims, seed);
    NormalsOptions options;
    options.neighbors = dims + static_cast<std::uint32_t>(seed * 3);
    if (seed >= 4) options.radius = 0.4;
    expect_definition<float>(points_of(rows, dims, DType::f32), options);
    expect_definition<double>(points_of(rows, dims, DType::f64), options);
  }
}

TEST(Normals, OfScatteredPointsGridsAndLinesFollowTheDefinition) {
  std::mt19937_64 random(5);
  std::vector<double> scattered, grid, line, twice;
  for (int i = 0; i < 120; ++i) {
    for (int d = 0; d < 3; ++d) scattered.push_back(draw(random, -1, 1));
    grid.insert(grid.end(), {double(i % 5), double(i / 5 % 5), double(i / 25)});
    line.insert(line.end(), {i * 0.25, i * 0.5, i * -0.125});
    twice.insert(twice.end(), {double(i / 2 % 7), double(i / 2 % 3), double(i / 2 % 5)});
  }
  for (const auto* rows : {&scattered, &grid, &line, &twice}) {
    expect_definition<float>(points_of(*rows, 3, DType::f32), {});
    expect_definition<double>(points_of(*rows, 3, DType::f64), {});
  }
}

TEST(Normals, OfAPlaneAreExactlyItsOwn) {
  std::mt19937_64 random(1);
  std::vector<double> rows;
  for (int i = 0; i < 500; ++i) {
    rows.push_back(draw(random, -1, 1));
    rows.push_back(draw(random, -1, 1));
    rows.push_back(4);
  }
  const PointSet points = points_of(rows, 3, DType::f32);
  const Normals found = normals(points.view());
  const float upwards[3] = {0, 0, 1};
  for (std::uint64_t row = 0; row < 500; ++row) {
    ASSERT_EQ(std::memcmp(found.normals.values<float>().data() + row * 3, upwards, sizeof upwards), 0) << row;
    ASSERT_EQ(found.curvature.values<float>()[row], 0) << row;
  }
  EXPECT_EQ(found.without, 0u);

  const Normals below = normals(points.view(), {.direction = NormalDirection::viewpoint, .viewpoint = {0, 0, -9}});
  const float downwards[3] = {0, 0, -1};
  for (std::uint64_t row = 0; row < 500; ++row) {
    ASSERT_EQ(std::memcmp(below.normals.values<float>().data() + row * 3, downwards, sizeof downwards), 0) << row;
  }
}

/// Points on a sphere of radius 2 about (5, 6, 7).
std::vector<double> sphere_rows(std::uint64_t count) {
  std::mt19937_64 random(2);
  std::vector<double> rows;
  while (rows.size() < count * 3) {
    double x[3], length = 0;
    for (double& value : x) {
      value = draw(random, -1, 1);
      length += value * value;
    }
    if (length > 1 || length < 0.01) continue;
    for (int d = 0; d < 3; ++d) rows.push_back(5 + d + 2 * x[d] / std::sqrt(length));
  }
  return rows;
}

/// Cosine between a normal and the way out of the sphere.
double outwards(const PointSet& normals, const std::vector<double>& rows, std::uint64_t row) {
  double sum = 0;
  for (std::uint32_t d = 0; d < 3; ++d) {
    sum += normals.values<double>()[row * 3 + d] * (rows[row * 3 + d] - 5 - d) / 2;
  }
  return sum;
}

TEST(Normals, OfASphereLeadFromItsCentre) {
  const std::vector<double> rows = sphere_rows(4000);
  const PointSet points = points_of(rows, 3, DType::f64);
  const Normals inside = normals(points.view(), {.direction = NormalDirection::viewpoint, .viewpoint = {5, 6, 7}});
  const Normals agreed = normals(points.view(), {.direction = NormalDirection::consistent});
  for (std::uint64_t row = 0; row < 4000; ++row) {
    ASSERT_LT(outwards(inside.normals, rows, row), -0.98) << row;
    ASSERT_GT(outwards(agreed.normals, rows, row), 0.98) << row;  // the highest point looks upwards, so all look out
  }
}

TEST(Normals, EachPartAgreesFromItsHighestPoint) {
  // Two planes one above the other, far apart: both look up. Two curves in a plane alike.
  std::vector<double> rows;
  for (int i = 0; i < 200; ++i) rows.insert(rows.end(), {double(i % 20), double(i / 20), i % 2 == 0 ? -50.0 : 50.0});
  const Normals found = normals(points_of(rows, 3, DType::f64).view(), {.direction = NormalDirection::consistent});
  for (std::uint64_t row = 0; row < 200; ++row) ASSERT_EQ(found.normals.values<double>()[row * 3 + 2], 1) << row;
}

TEST(Normals, HaveTheSameBytesForEveryNumberOfThreads) {
  const PointSet points = points_of(bumpy_rows(5000, 3, 3), 3, DType::f32);
  for (const NormalDirection direction :
       {NormalDirection::axis, NormalDirection::viewpoint, NormalDirection::consistent}) {
    for (const std::optional<double> radius : {std::optional<double>{}, std::optional<double>{0.1}}) {
      const NormalsOptions one{.radius = radius, .direction = direction, .threads = 1};
      const Normals expected = normals(points.view(), one);
      for (const int threads : {2, 5}) {
        NormalsOptions options = one;
        options.threads = threads;
        const Normals found = normals(points.view(), options);
        EXPECT_TRUE(std::ranges::equal(found.normals.values<float>(), expected.normals.values<float>()));
        EXPECT_TRUE(std::ranges::equal(found.curvature.values<float>(), expected.curvature.values<float>()));
      }
    }
  }
}

TEST(Normals, AreNeverNaN) {
  const double most = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> clouds = {{},
                                                   {1, 2, 3},
                                                   {1, 2, 3, 4, 5, 6},
                                                   {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7},
                                                   {most, 0, 0, -most, 0, 0, 0, most, 0, 0, 0, -most, most, most, most},
                                                   {1e200, 0, 0, 0, 1e200, 0, 0, 0, 1e200, 1e200, 1e200, 0},
                                                   {1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1e-200, 1e-200, 1e-200, 0}};
  for (const std::vector<double>& rows : clouds) {
    for (const NormalDirection direction :
         {NormalDirection::axis, NormalDirection::viewpoint, NormalDirection::consistent}) {
      const Normals found = normals(points_of(rows, 3, DType::f64).view(), {.direction = direction});
      ASSERT_EQ(found.normals.rows(), rows.size() / 3);
      for (const double x : found.normals.values<double>()) EXPECT_TRUE(std::isfinite(x));
      for (const double x : found.curvature.values<double>()) EXPECT_TRUE(x >= 0 && x <= 0.34);
    }
  }
}

TEST(Normals, FarFromTheOriginAreAsNearIt) {
  std::vector<double> rows = bumpy_rows(800, 3, 4);
  for (double& x : rows) x = std::round(x * 0x1p20) * 0x1p-20;  // the offset then rounds nothing
  const Normals near = normals(points_of(rows, 3, DType::f64).view());
  for (double& x : rows) x += 4194304;
  const Normals far = normals(points_of(rows, 3, DType::f64).view());
  EXPECT_TRUE(std::ranges::equal(near.normals.values<double>(), far.normals.values<double>()));
}

TEST(Normals, RowsWithNaNAreRefusedOrLeftOut) {
  std::vector<double> rows = bumpy_rows(100, 3, 6);
  rows[3 * 40 + 1] = std::nan("");
  const PointSet points = points_of(rows, 3, DType::f64);
  EXPECT_THROW(normals(points.view()), BadData);
  const Normals found = normals(points.view(), {.skip_nonfinite = true});
  rows.erase(rows.begin() + 120, rows.begin() + 123);
  const Normals others = normals(points_of(rows, 3, DType::f64).view());
  ASSERT_EQ(found.normals.rows(), 100u);
  EXPECT_EQ(found.without, 1u);
  for (std::uint64_t row = 0; row < 100; ++row) {
    for (std::uint64_t d = 0; d < 3; ++d) {
      const double expected = row == 40 ? 0 : others.normals.values<double>()[(row > 40 ? row - 1 : row) * 3 + d];
      EXPECT_EQ(found.normals.values<double>()[row * 3 + d], expected);
    }
  }
}

TEST(Normals, MoreNeighborsThanPointsAreAllOfThem) {
  const PointSet points = points_of(bumpy_rows(40, 3, 7), 3, DType::f32);
  const Normals all = normals(points.view(), {.neighbors = 40, .direction = NormalDirection::consistent});
  const Normals more = normals(points.view(), {.neighbors = 4'000'000'000, .direction = NormalDirection::consistent});
  EXPECT_TRUE(std::ranges::equal(all.normals.values<float>(), more.normals.values<float>()));
}

TEST(Normals, OptionsThatMakeNoSenseAreRefused) {
  const PointSet points = points_of(bumpy_rows(20, 3, 7), 3, DType::f64);
  EXPECT_THROW(normals(points.view(), {.neighbors = 2}), UsageError);
  EXPECT_THROW(normals(points.view(), {.radius = -1.0}), UsageError);
  EXPECT_THROW(normals(points.view(), {.radius = std::nan("")}), UsageError);
  EXPECT_THROW(normals(points.view(), {.direction = NormalDirection::viewpoint, .viewpoint = {0, std::nan(""), 0}}),
               UsageError);
  EXPECT_THROW(normals(points.view(), {.threads = -1}), UsageError);
  const std::vector<double> line = {1, 2, 3, 4};
  EXPECT_THROW(normals(PointView(line.data(), 4, 1)), UsageError);
  for (const char* name : {"axis", "viewpoint", "consistent"}) EXPECT_EQ(name_of(parse_normal_direction(name)), name);
  EXPECT_THROW(parse_normal_direction("up"), UsageError);
}

}  // namespace
}  // namespace kith::apps::normals_test
