// The shapes: the same bytes everywhere, and each what it says it is.
#include <kith/apps/generate.hpp>

#include "apps/portable_math.hpp"

#include <kith/apps/summarize.hpp>
#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace kith::apps {
namespace {

const std::vector<Shape> kAllShapes = {Shape::uniform, Shape::clusters, Shape::surface,    Shape::lidar,
                                       Shape::grid,    Shape::line,     Shape::duplicates, Shape::classes};

std::uint64_t hash_bytes(const void* data, std::size_t bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;  // FNV-1a
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001B3ULL;
  }
  return hash;
}

std::uint64_t hash_of(const Generated& generated) {
  const std::uint64_t points = hash_bytes(generated.points.view().data(), generated.points.bytes());
  return points ^ (hash_bytes(generated.labels.data(), generated.labels.size() * 4) << 1);
}

Generated make(Shape shape, std::uint64_t points, std::uint32_t dims = 3, DType dtype = DType::f32) {
  return generate({.shape = shape, .points = points, .dims = dims, .dtype = dtype});
}

struct Golden {
  Shape shape;
  std::uint32_t dims;
  std::uint64_t f32, f64;
};

// Recorded once. A change here means that every data set that anyone made from a seed has changed.
const Golden kGolden[] = {
    // clang-format off
    {Shape::uniform,    3, 0x2E94D464A2CCCB2DULL, 0xD576FFEF0A3463FAULL},
    {Shape::clusters,   5, 0xD791811ADA42E7ACULL, 0x89C5718953F791ADULL},
    {Shape::surface,    7, 0xCDB12BE4FDCE4B54ULL, 0xCD3EDF3939368AFFULL},
    {Shape::lidar,      3, 0x0912D77EE6859F3BULL, 0x8472287435C6515CULL},
    {Shape::grid,       4, 0xBE88986575B0A5E2ULL, 0x2DA7A72C7483F014ULL},
    {Shape::line,       6, 0x3F5BBC28D1296455ULL, 0x639F6646AC85FFE4ULL},
    {Shape::duplicates, 2, 0x8FF78F40AED028A3ULL, 0xD9B30D19D959482FULL},
    {Shape::classes,    9, 0x9169075CC4A0FDEDULL, 0xC997D50CE9B4D77BULL},
    // clang-format on
};

TEST(Generate, GivesTheRecordedBytesForEveryThreadCount) {
  for (const Golden& golden : kGolden) {
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(testing::Message() << name_of(golden.shape) << " on " << threads << " threads");
      GenerateOptions options{.shape = golden.shape, .points = 70001, .dims = golden.dims, .seed = 42};
      options.threads = threads;
      EXPECT_EQ(hash_of(generate(options)), golden.f32);
      options.dtype = DType::f64;
      EXPECT_EQ(hash_of(generate(options)), golden.f64);
    }
  }
}

TEST(Generate, AnotherSeedGivesOtherPoints) {
  for (const Shape shape : kAllShapes) {
    if (shape == Shape::grid) continue;  // has nothing random in it
    SCOPED_TRACE(name_of(shape));
    const auto hash = [&](std::uint64_t seed) {
      return hash_of(generate({.shape = shape, .points = 500, .seed = seed}));
    };
    EXPECT_NE(hash(1), hash(2));
  }
}

TEST(Generate, EveryShapeGivesExactlyTheNumberAskedFor) {
  for (const Shape shape : kAllShapes) {
    for (const std::uint64_t points : {0, 1, 2, 3, 63, 64, 65, 1000, 4097}) {
      SCOPED_TRACE(testing::Message() << points << " points of " << name_of(shape));
      const Generated generated = make(shape, points);
      EXPECT_EQ(generated.points.rows(), points);
      EXPECT_EQ(generated.points.dims(), 3u);
      EXPECT_EQ(generated.labels.size(), shape == Shape::classes ? points : 0);
      EXPECT_EQ(summarize(generated.points.view()).nonfinite, 0u);
    }
  }
}

TEST(Generate, FloatsAreTheDoublesRoundedOnce) {
  for (const Shape shape : {Shape::clusters, Shape::surface, Shape::lidar, Shape::grid, Shape::classes}) {
    SCOPED_TRACE(name_of(shape));
    const Generated floats = make(shape, 3000);
    const Generated doubles = make(shape, 3000, 3, DType::f64);
    for (std::size_t i = 0; i < 9000; ++i) {
      ASSERT_EQ(floats.points.values<float>()[i], static_cast<float>(doubles.points.values<double>()[i])) << i;
    }
  }
}

TEST(Generate, UniformFillsTheUnitCubeEvenly) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Generated generated = make(Shape::uniform, 200000, 2, dtype);
    std::vector<int> cells(100);
    for (std::uint64_t i = 0; i < 200000; ++i) {
      const double x = generated.points.view().at(i, 0);
      const double y = generated.points.view().at(i, 1);
      ASSERT_TRUE(x >= 0 && x < 1 && y >= 0 && y < 1);
      ++cells[static_cast<std::size_t>(x * 10) * 10 + static_cast<std::size_t>(y * 10)];
    }
    // 2000 a cell, deviation 44.5: six of those leave no chance to chance.
    EXPECT_GT(*std::min_element(cells.begin(), cells.end()), 1730);
    EXPECT_LT(*std::max_element(cells.begin(), cells.end()), 2270);
  }
}

TEST(Generate, ClustersAreTight) {
  // 16 points: one cluster, so all of them lie around one centre.
  const Summary one = summarize(make(Shape::clusters, 16, 4).points.view());
  for (std::size_t d = 0; d < 4; ++d) EXPECT_LT(one.upper[d] - one.lower[d], 0.06);
  const Summary many = summarize(make(Shape::clusters, 50000, 4).points.view());
  for (std::size_t d = 0; d < 4; ++d) {
    EXPECT_LT(many.lower[d], 0.05);
    EXPECT_GT(many.upper[d], 0.95);
  }
}

TEST(Generate, SurfaceLiesOnSheetsInAnyNumberOfDims) {
  for (const std::uint32_t dims : {2u, 3u, 33u}) {
    const Summary summary = summarize(make(Shape::surface, 5000, dims, DType::f64).points.view());
    EXPECT_EQ(summary.duplicates, 0u);
    for (std::uint32_t d = 0; d < dims; ++d) {
      EXPECT_GT(summary.lower[d], -0.5);
      EXPECT_LT(summary.upper[d], 1.5);
      EXPECT_GT(summary.upper[d] - summary.lower[d], 0.1);
    }
  }
  // The nearest of 20000 points on eight sheets is far nearer than that of 20000 points in a 6-D cube.
  const auto nearest = [](Shape shape) {
    const Generated generated = make(shape, 20000, 6, DType::f64);
    const auto values = generated.points.values<double>();
    double sum = 0;
    for (std::size_t q = 0; q < 20; ++q) {
      double best = 1e9;
      for (std::size_t i = 20; i < 20000; ++i) {
        double square = 0;
        for (std::size_t d = 0; d < 6; ++d) square += std::pow(values[q * 6 + d] - values[i * 6 + d], 2);
        best = std::min(best, square);
      }
      sum += std::sqrt(best);
    }
    return sum / 20;
  };
  EXPECT_LT(nearest(Shape::surface) * 5, nearest(Shape::uniform));
}

TEST(Generate, LidarLooksLikeAScan) {
  const Generated generated = make(Shape::lidar, 100000);
  const auto values = generated.points.values<float>();
  std::vector<double> per_square_metre(8);  // by range, in steps of 10 m
  std::vector<int> around(12);
  int ground = 0;
  int high = 0;
  for (std::size_t i = 0; i < 100000; ++i) {
    const double x = values[3 * i] - 0.4;  // the scanner moves 0.8 m in one revolution
    const double y = values[3 * i + 1] + 1.8;
    const double z = values[3 * i + 2];
    const double range = std::sqrt(x * x + y * y);
    ASSERT_LT(range, 92);
    ASSERT_GT(range, 2);
    ASSERT_GT(z, -0.3);
    ASSERT_LT(z, 10);
    if (std::abs(z) < 0.15) ++ground;
    if (z > 1.0) ++high;
    if (range < 80) per_square_metre[static_cast<std::size_t>(range / 10)] += 1;
    ++around[static_cast<std::size_t>((std::atan2(y, x) / 6.2831853072 + 0.5) * 12) % 12];
  }
  for (std::size_t ring = 0; ring < 8; ++ring) {
    per_square_metre[ring] /= 3.14159265 * 100 * (2.0 * static_cast<double>(ring) + 1);
  }
  EXPECT_GT(per_square_metre[0], 2 * per_square_metre[1]);
  EXPECT_GT(per_square_metre[1], 2 * per_square_metre[2]);
  EXPECT_GT(per_square_metre[2], 2 * per_square_metre[4]);
  EXPECT_GT(per_square_metre[4], per_square_metre[7]);
  EXPECT_GT(ground, 40000);
  EXPECT_GT(high, 3000);
  EXPECT_GT(*std::min_element(around.begin(), around.end()), 3000);  // one whole revolution
  EXPECT_LT(summarize(generated.points.view()).duplicates, 10u);
  EXPECT_LT(summarize(make(Shape::lidar, 1000000).points.view()).duplicates, 100u);
}

TEST(Generate, LidarRingsOnTheGroundLieWhereTheirAnglesSay) {
  const Generated generated = make(Shape::lidar, 60000, 3, DType::f64);
  std::map<int, int> rings;
  for (std::uint64_t i = 0; i < 60000; ++i) {
    const double x = generated.points.view().at(i, 0);
    const double y = generated.points.view().at(i, 1) + 1.8;
    const double z = generated.points.view().at(i, 2);
    const double range = std::hypot(x, y);
    if (std::abs(z) > 0.1 || range < 6) continue;
    const double degrees = std::atan((1.8 - z) / range) * 57.29577951;
    rings[static_cast<int>(std::lround((degrees + 2) / 26.8 * 63))] += 1;
  }
  EXPECT_GE(rings.size(), 30u);
  for (const auto& [ring, count] : rings) EXPECT_TRUE(ring >= 4 && ring < 64) << ring << " has " << count;
}

TEST(Generate, GridIsTheSmallestLatticeTruncated) {
  const Generated generated = make(Shape::grid, 28, 3);  // 4 x 4 x 4, since 3^3 = 27
  const auto values = generated.points.values<float>();
  for (std::size_t i = 0; i < 28; ++i) {
    EXPECT_EQ(values[3 * i], static_cast<float>(i / 16));
    EXPECT_EQ(values[3 * i + 1], static_cast<float>(i / 4 % 4));
    EXPECT_EQ(values[3 * i + 2], static_cast<float>(i % 4));
  }
  EXPECT_EQ(summarize(make(Shape::grid, 27, 3).points.view()).upper, (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(summarize(make(Shape::grid, 1000, 1).points.view()).upper, (std::vector<double>{999}));
  EXPECT_EQ(summarize(make(Shape::grid, 1024, 10).points.view()).upper, std::vector<double>(10, 1));
  const Summary wide = summarize(make(Shape::grid, 3, 4096).points.view());
  EXPECT_EQ(wide.duplicates, 0u);
  EXPECT_EQ(wide.upper[4094], 1);
  EXPECT_EQ(wide.upper[4093], 0);
}

TEST(Generate, LineIsExactlyStraight) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    const Generated generated = make(Shape::line, 1000, 6, dtype);
    const PointView view = generated.points.view();
    const double slopes[] = {1, -0.5, 0.25, 2, 1, -0.5};
    for (std::uint64_t i = 0; i < 1000; ++i) {
      for (std::uint32_t d = 0; d < 6; ++d) ASSERT_EQ(view.at(i, d), view.at(i, 0) * slopes[d]);
    }
    EXPECT_LT(summarize(view).duplicates, 2u);
  }
}

TEST(Generate, DuplicatesComeFromATenthAsManyPlaces) {
  const Generated generated = make(Shape::duplicates, 20000, 2);
  const Summary summary = summarize(generated.points.view());
  EXPECT_GE(summary.duplicates, 18000u);
  EXPECT_LE(summary.duplicates, 18200u);
  std::map<std::pair<float, float>, int> times;
  const auto values = generated.points.values<float>();
  int most = 0;
  for (std::size_t i = 0; i < 20000; ++i) most = std::max(most, ++times[{values[2 * i], values[2 * i + 1]}]);
  EXPECT_GT(most, 200);
}

TEST(Generate, ClassesHaveSixDecimalsAndEvenLabels) {
  GenerateOptions options{.shape = Shape::classes, .points = 20000, .dims = 2, .dtype = DType::f64, .classes = 4};
  const Generated generated = generate(options);
  std::vector<int> counts(4);
  for (const std::uint32_t label : generated.labels) {
    ASSERT_LT(label, 4u);
    ++counts[label];
  }
  for (const int count : counts) EXPECT_NEAR(count, 5000, 400);
  for (const double value : generated.points.values<double>()) {
    ASSERT_LE(std::abs(value), 100);
    ASSERT_EQ(value, static_cast<double>(std::llround(value * 1e6)) / 1e6);
  }
  const Summary summary = summarize(generated.points.view());
  EXPECT_LT(summary.lower[0], -99.9);
  EXPECT_GT(summary.upper[0], 99.9);
}

TEST(Generate, RefusesWhatDoesNotExist) {
  EXPECT_THROW(make(Shape::lidar, 10, 2), UsageError);
  EXPECT_THROW(make(Shape::lidar, 10, 4), UsageError);
  EXPECT_THROW(make(Shape::surface, 10, 1), UsageError);
  EXPECT_THROW(make(Shape::uniform, 10, 0), UsageError);
  EXPECT_THROW(make(Shape::uniform, 10, 4097), UsageError);
  EXPECT_THROW(generate({.shape = Shape::classes, .classes = 0}), UsageError);
  EXPECT_THROW(generate({.shape = static_cast<Shape>(99)}), UsageError);
  EXPECT_THROW(make(Shape::uniform, ~std::uint64_t{0}, 3), OutOfMemory);
  EXPECT_THROW(make(Shape::uniform, std::uint64_t{1} << 58, 3), OutOfMemory);
  EXPECT_NO_THROW(make(Shape::uniform, 2, 4096));
}

TEST(Generate, NamesGoBothWays) {
  for (const Shape shape : kAllShapes) EXPECT_EQ(parse_shape(name_of(shape)), shape);
  try {
    parse_shape("banana");
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "shape \"banana\" does not exist; use one of: uniform, clusters, surface, lidar, grid, line, "
                 "duplicates, classes");
  }
}

TEST(Generate, ReportsProgressAndStopsWhenTold) {
  for (const Shape shape : {Shape::uniform, Shape::lidar}) {
    std::uint64_t last = 0;
    GenerateOptions options{.shape = shape, .points = 100000};
    options.progress = [&](const Progress& progress) {
      EXPECT_GE(progress.done, last);
      EXPECT_EQ(progress.total, 100000u);
      last = progress.done;
      return true;
    };
    generate(options);
    EXPECT_EQ(last, 100000u);
    options.progress = [](const Progress&) { return false; };
    EXPECT_THROW(generate(options), Interrupted);
  }
}

TEST(PortableMath, AgreesWithTheMathLibrary) {
  for (int i = -1000; i <= 1000; ++i) {
    const double turns = i / 317.0;
    const auto [sine, cosine] = sine_cosine_of_turns(turns);
    EXPECT_NEAR(sine, std::sin(turns * 6.283185307179586), 4e-15) << turns;
    EXPECT_NEAR(cosine, std::cos(turns * 6.283185307179586), 4e-15) << turns;
  }
  for (const double value : {1e-300, 1e-16, 0.3, 0.7, 0.999, 1.0, 1.5, 2.0, 10.0, 1e300}) {
    EXPECT_NEAR(logarithm(value), std::log(value), 1e-15 * (1 + std::abs(std::log(value)))) << value;
  }
}

TEST(PortableMath, NormalNumbersHaveTheRightMoments) {
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    const double value = normal(Draws(7, 1, static_cast<std::uint64_t>(i)), 0);
    sum += value;
    squares += value * value;
    fourths += value * value * value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.015);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(fourths / kCount, 3, 0.15);
}

}  // namespace
}  // namespace kith::apps
