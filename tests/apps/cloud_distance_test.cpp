// Distances between clouds against loops over all pairs, a full sort for percentiles, and sums in the same order.
#include <kith/apps/cloud_distance.hpp>

#include "core/cloud/ordered_sum.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::apps::cloud_distance_cases {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
PointView view_of(const std::vector<T>& values, std::uint32_t dims) {
  return PointView(values.data(), values.size() / dims, dims);
}

template <typename T>
std::vector<T> cloud(std::uint64_t seed, std::uint32_t dims) {
  std::mt19937_64 random(seed);
  const std::uint64_t rows = seed % 5 == 0 ? random() % 3 : random() % 600;
  const std::uint64_t shape = random() % 3;
  const double offset = random() % 2 == 0 ? 0 : 4e5;
  std::vector<T> values;
  for (std::uint64_t i = 0; i < rows * dims; ++i) {
    const std::uint64_t word = random();
    values.push_back(static_cast<T>(offset + (shape == 0   ? 1.5
                                              : shape == 1 ? static_cast<double>(word % 6)
                                                           : static_cast<double>(word >> 50) * 1e-3)));
  }
  return values;
}

/// Terms added in blocks, by one thread: the order is what matters, and ordered_sum_test.cpp has its definition.
double total_of(const std::vector<double>& items) {
  std::vector<core::Terms<1>> blocks;
  for (std::uint64_t first = 0; first < items.size(); first += core::kSumBlock) {
    blocks.push_back(core::sum_of_block<1>(first, std::min<std::uint64_t>(items.size(), first + core::kSumBlock),
                                           [&](std::uint64_t i, core::Terms<1>& terms) { terms[0] = items[i]; }));
  }
  return core::sum_of_blocks<1>(blocks)[0];
}

void expect_same(double expected, double found) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found));
  } else {
    EXPECT_EQ(expected, found);
  }
}

template <typename T>
void expect_the_definition(PointView a, PointView b, double largest, const DirectedDistance& found,
                           const std::vector<double>& percentiles) {
  std::vector<double> matched, terms, squares;
  ASSERT_EQ(found.distances.size(), a.rows());
  std::uint32_t max_row = 0xffffffff;
  double max = kNan;
  for (std::uint64_t i = 0; i < a.rows(); ++i) {
    T best = std::numeric_limits<T>::infinity();
    std::uint32_t row = 0xffffffff;
    for (std::uint32_t j = 0; j < b.rows(); ++j) {
      T sum = 0;
      for (std::uint32_t d = 0; d < a.dims(); ++d) {
        const T apart = a.row<T>(i)[d] - b.row<T>(j)[d];
        sum = std::fma(apart, apart, sum);
      }
      if (row == 0xffffffff || sum < best) {
        best = sum;
        row = j;
      }
    }
    const double distance = static_cast<double>(std::sqrt(best));
    const bool is_matched = row != 0xffffffff && distance <= largest;
    EXPECT_EQ(found.distances[i], is_matched ? distance : kInfinity);
    EXPECT_EQ(found.nearest[i], is_matched ? row : 0xffffffff);
    terms.push_back(is_matched ? distance : 0);
    squares.push_back(is_matched ? distance * distance : 0);
    if (!is_matched) continue;
    matched.push_back(distance);
    if (max_row == 0xffffffff || distance > max) {
      max = distance;
      max_row = static_cast<std::uint32_t>(i);
    }
  }
  const auto count = static_cast<double>(matched.size());
  EXPECT_EQ(found.matched, matched.size());
  EXPECT_EQ(found.unmatched, a.rows() - matched.size());
  expect_same(matched.empty() ? kNan : total_of(terms) / count, found.mean);
  expect_same(matched.empty() ? kNan : total_of(squares) / count, found.mean_squared);
  expect_same(matched.empty() ? kNan : std::sqrt(total_of(squares) / count), found.rms);
  expect_same(max, found.max);
  EXPECT_EQ(max_row, found.max_row);
  std::sort(matched.begin(), matched.end());
  ASSERT_EQ(found.percentiles.size(), percentiles.size());
  for (std::size_t p = 0; p < percentiles.size(); ++p) {
    if (matched.empty()) {
      EXPECT_TRUE(std::isnan(found.percentiles[p]));
      continue;
    }
    std::size_t rank = 1;  // the smallest of which at least p percent are at most as far
    while (static_cast<double>(rank) * 100 < percentiles[p] * count) ++rank;
    EXPECT_EQ(found.percentiles[p], matched[rank - 1]);
  }
}

template <typename T>
void expect_both_definitions(std::uint64_t seed) {
  const std::uint32_t dims = 1 + seed % 4;
  const std::vector<T> left = cloud<T>(seed, dims), right = cloud<T>(seed + 1000 * (seed % 3), dims);
  const PointView a = view_of(left, dims), b = view_of(right, dims);
  const double largest = seed % 4 == 0 ? 0.5 : kInfinity;
  const std::vector<double> percentiles = {50, 0, 100, 95, 25};
  for (const int threads : {1, 2, 5}) {
    const CloudDistance found = cloud_distance(
        a, b, {.symmetric = true, .max_distance = largest, .percentiles = percentiles, .threads = threads});
    expect_the_definition<T>(a, b, largest, found.forward, percentiles);
    ASSERT_TRUE(found.backward);
    expect_the_definition<T>(b, a, largest, *found.backward, percentiles);
    expect_same(found.forward.mean + found.backward->mean, found.chamfer);
    expect_same(found.forward.mean_squared + found.backward->mean_squared, found.chamfer_squared);
    if (found.forward.matched > 0 && found.backward->matched > 0) {
      EXPECT_EQ(found.hausdorff, std::max(found.forward.max, found.backward->max));
    }
  }
}

TEST(CloudDistance, EqualsTheDefinitionOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "replay with cloud(" << seed << ")");
    expect_both_definitions<float>(seed);
    expect_both_definitions<double>(seed);
  }
}

TEST(CloudDistance, ByHand) {
  const std::vector<double> a = {0, 0, 3, 4, 10, 0}, b = {0, 0, 3, 0};
  const CloudDistance found =
      cloud_distance(view_of(a, 2), view_of(b, 2), {.symmetric = true, .percentiles = {50, 34, 99}});
  EXPECT_EQ(found.forward.distances, (std::vector<double>{0, 4, 7}));
  EXPECT_EQ(found.forward.nearest, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(found.forward.mean, 11.0 / 3);
  EXPECT_EQ(found.forward.mean_squared, 65.0 / 3);
  EXPECT_EQ(found.forward.max, 7);
  EXPECT_EQ(found.forward.max_row, 2u);
  EXPECT_EQ(found.forward.percentiles, (std::vector<double>{4, 4, 7}));
  EXPECT_EQ(found.backward->max, 3);
  EXPECT_EQ(found.chamfer, 11.0 / 3 + 1.5);
  EXPECT_EQ(found.chamfer_squared, 65.0 / 3 + 4.5);
  EXPECT_EQ(found.hausdorff, 7);
  EXPECT_FALSE(cloud_distance(view_of(a, 2), view_of(b, 2)).backward);
}

TEST(CloudDistance, EmptyCloudsHaveNoFigures) {
  const std::vector<double> a = {0, 0, 3, 4};
  const CloudDistance to_none = cloud_distance(view_of(a, 2), PointView(), {.symmetric = true, .percentiles = {50}});
  EXPECT_EQ(to_none.forward.unmatched, 2u);
  EXPECT_EQ(to_none.forward.distances, (std::vector<double>{kInfinity, kInfinity}));
  EXPECT_TRUE(std::isnan(to_none.forward.mean) && std::isnan(to_none.forward.max) && std::isnan(to_none.chamfer));
  EXPECT_TRUE(std::isnan(to_none.forward.percentiles[0]) && std::isnan(to_none.hausdorff));
  EXPECT_TRUE(to_none.backward->distances.empty());
  EXPECT_EQ(cloud_distance(PointView(), PointView()).forward.matched, 0u);
}

TEST(CloudDistance, NamesBadRowsOrLeavesThemOut) {
  const std::vector<double> a = {0, kNan, 5}, b = {kInfinity, 1};
  try {
    cloud_distance(view_of(a, 1), view_of(b, 1));
    FAIL();
  } catch (const BadRow& bad) {
    EXPECT_EQ(bad.array(), "first");
    EXPECT_EQ(bad.row(), 1u);
  }
  try {
    const std::vector<double> good = {1};
    cloud_distance(view_of(good, 1), view_of(b, 1));
    FAIL();
  } catch (const BadRow& bad) {
    EXPECT_EQ(bad.array(), "second");
    EXPECT_EQ(bad.row(), 0u);
  }
  const CloudDistance found = cloud_distance(view_of(a, 1), view_of(b, 1), {.symmetric = true, .skip_nonfinite = true});
  EXPECT_EQ(found.forward.skipped, 1u);
  EXPECT_EQ(found.forward.matched, 2u);
  EXPECT_TRUE(std::isnan(found.forward.distances[1]));
  EXPECT_EQ(found.forward.nearest, (std::vector<std::uint32_t>{1, 0xffffffff, 1}));
  EXPECT_EQ(found.backward->nearest, (std::vector<std::uint32_t>{0xffffffff, 0}));
}

TEST(CloudDistance, RefusesWhatMakesNoSense) {
  const std::vector<double> a = {0, 1, 2, 3};
  const std::vector<float> f = {0, 1};
  EXPECT_THROW(cloud_distance(view_of(a, 2), view_of(a, 1)), UsageError);
  EXPECT_THROW(cloud_distance(view_of(a, 2), view_of(f, 2)), UsageError);
  EXPECT_THROW(cloud_distance(view_of(a, 2), view_of(a, 2), {.max_distance = -1}), UsageError);
  EXPECT_THROW(cloud_distance(view_of(a, 2), view_of(a, 2), {.percentiles = {101}}), UsageError);
  EXPECT_THROW(cloud_distance(view_of(a, 2), view_of(a, 2), {.percentiles = {kNan}}), UsageError);
  EXPECT_THROW(cloud_distance(view_of(a, 2), view_of(a, 2), {.threads = -1}), UsageError);
}

}  // namespace
}  // namespace kith::apps::cloud_distance_cases
