// Outliers against the two definitions, written as plain loops over all pairs.
#include <kith/apps/outliers.hpp>

#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace kith::apps::outliers_cases {
namespace {

using Rows = std::vector<std::uint32_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
PointView view_of(const std::vector<T>& values, std::uint32_t dims) {
  return PointView(values.data(), values.size() / dims, dims);
}

template <typename T>
std::vector<T> scattered(std::uint64_t seed, std::uint32_t dims) {
  std::mt19937_64 random(seed);
  const std::uint64_t rows = seed % 4 == 0 ? random() % 5 : random() % 700;
  const std::uint64_t shape = random() % 3;
  const double offset = random() % 2 == 0 ? 0 : 4e5;
  std::vector<T> values;
  for (std::uint64_t i = 0; i < rows * dims; ++i) {
    const double spread = shape == 0 ? 0 : shape == 1 ? static_cast<double>(random() % 5) : std::ldexp(1, random() % 8);
    const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
    values.push_back(static_cast<T>(offset + spread * (shape == 1 ? 1 : fraction)));
  }
  return values;
}

/// The distances of one point to all others.
template <typename T>
std::vector<T> distances_from(PointView points, std::uint64_t i) {
  std::vector<T> all;
  for (std::uint64_t j = 0; j < points.rows(); ++j) {
    if (i == j) continue;
    T sum = 0;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      const T apart = points.row<T>(i)[d] - points.row<T>(j)[d];
      sum = std::fma(apart, apart, sum);
    }
    all.push_back(std::sqrt(sum));
  }
  return all;
}

/// Items in groups of 32 by halves, 8 groups of a block in a row, blocks of blocks.
double plain_total(std::vector<double> items) {
  while (items.size() > 1 || items.empty()) {
    if (items.empty()) return 0;
    std::vector<double> blocks;
    for (std::size_t block = 0; block < items.size(); block += 256) {
      double sum = 0;
      for (std::size_t first = block; first < std::min(block + 256, items.size()); first += 32) {
        double group[32] = {};
        for (std::size_t i = 0; i < 32 && first + i < items.size(); ++i) group[i] = items[first + i];
        for (std::size_t half = 16; half > 0; half /= 2) {
          for (std::size_t i = 0; i < half; ++i) group[i] += group[i + half];
        }
        sum += group[0];
      }
      blocks.push_back(sum);
    }
    items = blocks;
  }
  return items[0];
}

template <typename T>
void expect_the_statistical_rule(std::uint64_t seed, std::uint32_t dims) {
  const std::vector<T> values = scattered<T>(seed, dims);
  const PointView points = view_of(values, dims);
  const std::uint32_t k = 1 + seed % 9;
  const double ratio = static_cast<double>(seed % 5) * 0.5;
  std::vector<double> means;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    std::vector<T> all = distances_from<T>(points, i);
    double sum = 0;
    const std::size_t used = std::min<std::size_t>(k, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(used), all.end());
    for (std::size_t j = 0; j < used; ++j) sum += static_cast<double>(all[j]);
    means.push_back(used == 0 ? 0 : sum / static_cast<double>(used));
  }
  const auto n = static_cast<double>(means.size());
  const double mean = means.empty() ? 0 : plain_total(means) / n;
  std::vector<double> squares;
  for (const double m : means) squares.push_back((m - mean) * (m - mean));
  const double deviation = means.size() > 1 ? std::sqrt(plain_total(squares) / (n - 1)) : 0;
  Rows kept;
  for (std::uint32_t i = 0; i < means.size(); ++i) {
    if (means[i] <= mean + ratio * deviation) kept.push_back(i);
  }
  for (const int threads : {1, 2, 5}) {
    const Outliers found = outliers(points, {.neighbors = k, .ratio = ratio, .threads = threads});
    EXPECT_EQ(means, found.mean_distances);
    EXPECT_EQ(mean, found.mean);
    EXPECT_EQ(deviation, found.deviation);
    EXPECT_EQ(kept, found.kept);
    for (std::uint32_t i = 0; i < means.size(); ++i) {
      EXPECT_EQ(found.flags[i] == 0, std::binary_search(kept.begin(), kept.end(), i));
    }
  }
}

template <typename T>
void expect_the_rule_of_density(std::uint64_t seed, std::uint32_t dims) {
  const std::vector<T> values = scattered<T>(seed, dims);
  const PointView points = view_of(values, dims);
  const double radius = std::ldexp(1, static_cast<int>(seed % 7) - 2);
  const std::uint32_t least = seed % 6;
  Rows kept, counts;
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    std::uint32_t count = 0;
    for (const T distance : distances_from<T>(points, i)) count += static_cast<double>(distance) <= radius ? 1 : 0;
    counts.push_back(count);
    if (count >= least) kept.push_back(static_cast<std::uint32_t>(i));
  }
  for (const int threads : {1, 2, 5}) {
    const Outliers found = outliers(points, {.radius = radius, .min_neighbors = least, .threads = threads});
    EXPECT_EQ(counts, found.counts);
    EXPECT_EQ(kept, found.kept);
  }
}

TEST(Outliers, EqualTheDefinitionsOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with scattered(" << seed << ")");
    const std::uint32_t dims = 1 + seed % 4;
    expect_the_statistical_rule<float>(seed, dims);
    expect_the_statistical_rule<double>(seed, dims);
    expect_the_rule_of_density<float>(seed, dims);
    expect_the_rule_of_density<double>(seed, dims);
  }
}

TEST(Outliers, APointFarAwayIsOne) {
  const std::vector<double> values = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 50};
  EXPECT_EQ(outliers(view_of(values, 1), {.neighbors = 2}).kept, (Rows{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(outliers(view_of(values, 1), {.radius = 0.15, .min_neighbors = 2}).kept, (Rows{1, 2, 3, 4, 5, 6}));
}

TEST(Outliers, NoPointsOnePointAndEqualPoints) {
  EXPECT_TRUE(outliers(PointView(), {.neighbors = 3}).flags.empty());
  EXPECT_TRUE(outliers(PointView(), {.radius = 3}).kept.empty());
  const std::vector<double> one = {1, 2, 3};
  EXPECT_EQ(outliers(view_of(one, 3), {.neighbors = 3}).kept, Rows{0});
  EXPECT_EQ(outliers(view_of(one, 3), {.radius = 3}).flags, std::vector<std::uint8_t>{1});
  const std::vector<float> equal(300, 7.5f);
  EXPECT_EQ(outliers(view_of(equal, 3), {.neighbors = 20, .ratio = 0}).kept.size(), 100u);
  EXPECT_EQ(outliers(view_of(equal, 3), {.radius = 0, .min_neighbors = 99}).kept.size(), 100u);
  EXPECT_EQ(outliers(view_of(equal, 3), {.radius = 0, .min_neighbors = 100}).kept.size(), 0u);
}

TEST(Outliers, NamesBadRowsOrLeavesThemOut) {
  const std::vector<double> values = {0, kNan, 0.1, 9};
  EXPECT_THROW(outliers(view_of(values, 1), {.neighbors = 1}), BadRow);
  const Outliers by_distance = outliers(view_of(values, 1), {.neighbors = 1, .ratio = 1, .skip_nonfinite = true});
  EXPECT_EQ(by_distance.flags, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_TRUE(std::isnan(by_distance.mean_distances[1]));
  EXPECT_EQ(by_distance.skipped, 1u);
  const Outliers by_count = outliers(view_of(values, 1), {.radius = 1, .skip_nonfinite = true});
  EXPECT_EQ(by_count.kept, (Rows{0, 2}));
  EXPECT_EQ(by_count.counts, (Rows{1, 0, 1, 0}));
}

TEST(Outliers, RefusesWhatMakesNoSense) {
  const std::vector<double> values = {0, 1, 2};
  const PointView points = view_of(values, 1);
  EXPECT_THROW(outliers(points, {}), UsageError);
  EXPECT_THROW(outliers(points, {.neighbors = 1, .radius = 1}), UsageError);
  EXPECT_THROW(outliers(points, {.neighbors = 0}), UsageError);
  EXPECT_THROW(outliers(points, {.neighbors = 1, .ratio = kNan}), UsageError);
  EXPECT_THROW(outliers(points, {.radius = -1}), UsageError);
  EXPECT_THROW(outliers(points, {.radius = 1, .threads = -1}), UsageError);
  const std::vector<float> huge = {0, 3e38f, -3e38f};
  EXPECT_THROW(outliers(view_of(huge, 1), {.neighbors = 2}), BadData);
}

TEST(Outliers, DeviationsThatOverflowAreNamed) {
  const std::vector<double> values = {0, 1e154, 4e154, 9e154, 16e154, 30e154};
  EXPECT_THROW(outliers(view_of(values, 1), {.neighbors = 1, .ratio = 0}), BadData);
}

}  // namespace
}  // namespace kith::apps::outliers_cases
