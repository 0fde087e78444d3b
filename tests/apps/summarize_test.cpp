// Bounds, bad rows and duplicates of small sets by hand and of random ones by comparing all pairs.
#include <kith/apps/summarize.hpp>

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace kith::apps {
namespace {

template <typename T>
PointView view_of(const std::vector<T>& values, std::uint32_t dims) {
  return PointView(values.data(), values.size() / dims, dims);
}

TEST(Summarize, TellsBoundsBadRowsAndDuplicates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {1, 2, 0.0f, -5, nan, 9, 1, 2, -0.0f, -5, 9, -inf, 1, 2, nan, 9};
  const Summary summary = summarize(view_of(values, 2));
  EXPECT_EQ(summary.points, 8u);
  EXPECT_EQ(summary.dims, 2u);
  EXPECT_EQ(summary.dtype, DType::f32);
  EXPECT_EQ(summary.nonfinite, 3u);   // equal NaN rows are no duplicates
  EXPECT_EQ(summary.duplicates, 3u);  // (1, 2) twice more, (-0, -5) equals (0, -5)
  EXPECT_EQ(summary.lower, (std::vector<double>{0, -5}));
  EXPECT_EQ(summary.upper, (std::vector<double>{1, 2}));
  EXPECT_FALSE(std::signbit(summary.lower[0]));
  EXPECT_EQ(summary.bytes, 64u);
}

TEST(Summarize, NothingAndOnlyBadRowsHaveNoBounds) {
  const Summary nothing = summarize(PointView(static_cast<const double*>(nullptr), 0, 3));
  EXPECT_EQ(nothing.points, 0u);
  EXPECT_EQ(nothing.dtype, DType::f64);
  EXPECT_TRUE(nothing.lower.empty());
  const std::vector<double> values(6, std::numeric_limits<double>::infinity());
  const Summary bad = summarize(view_of(values, 2));
  EXPECT_EQ(bad.nonfinite, 3u);
  EXPECT_EQ(bad.duplicates, 0u);
  EXPECT_TRUE(bad.lower.empty() && bad.upper.empty());
}

TEST(Summarize, ReadsRowsThatLieApart) {
  const std::vector<double> values = {1, 2, 77, 1, 2, 88, 3, 4, 99};
  const Summary summary = summarize(PointView(values.data(), DType::f64, 3, 2, 3));
  EXPECT_EQ(summary.duplicates, 1u);
  EXPECT_EQ(summary.upper, (std::vector<double>{3, 4}));
  EXPECT_EQ(summary.bytes, 48u);
}

TEST(Summarize, EqualsCountingByAnOrderedSetOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const std::uint32_t dims = 1 + static_cast<std::uint32_t>(random() % 4);
    const std::size_t rows = random() % (seed % 10 == 0 ? 200000 : 3000);
    const int values_per_coordinate = 1 + static_cast<int>(random() % 40);
    std::vector<float> values(rows * dims);
    for (float& value : values) {
      value = static_cast<float>(static_cast<int>(random() % static_cast<std::uint64_t>(values_per_coordinate)));
      if (value == 0 && random() % 2 == 0) value = -0.0f;
      if (random() % 500 == 0) value = std::numeric_limits<float>::quiet_NaN();
    }
    std::set<std::vector<float>> distinct;
    std::uint64_t nonfinite = 0;
    std::uint64_t duplicates = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      const std::vector<float> row(values.begin() + static_cast<std::ptrdiff_t>(i * dims),
                                   values.begin() + static_cast<std::ptrdiff_t>((i + 1) * dims));
      bool finite = true;
      for (const float value : row) finite = finite && std::isfinite(value);
      if (!finite) {
        ++nonfinite;
      } else if (!distinct.insert(row).second) {
        ++duplicates;
      }
    }
    for (const int threads : {1, 3}) {
      SummarizeOptions options;
      options.threads = threads;
      const Summary summary = summarize(view_of(values, dims), options);
      EXPECT_EQ(summary.nonfinite, nonfinite);
      EXPECT_EQ(summary.duplicates, duplicates);
    }
  }
}

TEST(Summarize, AMillionEqualRowsAreAMillionLessOneDuplicates) {
  const std::vector<float> values(2000000, 0.5f);
  EXPECT_EQ(summarize(view_of(values, 2)).duplicates, 999999u);
}

TEST(Summarize, StopsWhenTold) {
  const std::vector<float> values(300000, 1.0f);
  SummarizeOptions options;
  options.progress = [](const Progress&) { return false; };
  EXPECT_THROW(summarize(view_of(values, 3), options), Interrupted);
}

TEST(Summarize, RefusesPointsOnAGpu) {
  EXPECT_THROW(summarize(PointView(static_cast<const float*>(nullptr), 1, 1, Device::cuda())), UsageError);
}

}  // namespace
}  // namespace kith::apps
