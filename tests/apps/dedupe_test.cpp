// Removal of equal and of near points against the plain loop, on small sets by hand and on random nasty ones.
#include <kith/apps/dedupe.hpp>

#include "apps/row_content.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include <kith/apps/take_rows.hpp>
#include <kith/error.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

using Rows = std::vector<std::uint32_t>;

template <typename T>
PointView view_of(const std::vector<T>& values, std::uint32_t dims) {
  return PointView(values.data(), values.size() / dims, dims);
}

/// The order of the loop: the best score first, ties by number.
Rows loop_order(std::uint64_t count, const DedupeOptions& options) {
  Rows order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (options.scores.empty()) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return options.prefer_low ? options.scores[a] < options.scores[b] : options.scores[a] > options.scores[b];
  });
  return order;
}

/// The loop itself; `is_near(i, j)` says whether a kept point removes another.
template <typename IsNear>
Deduped plain_loop(std::uint64_t count, const DedupeOptions& options, IsNear&& is_near) {
  Rows kept_in_order;
  Rows stands_for(count);
  for (const std::uint32_t row : loop_order(count, options)) {
    const auto nearby = std::find_if(kept_in_order.begin(), kept_in_order.end(),
                                     [&](std::uint32_t kept) { return is_near(row, kept); });
    stands_for[row] = nearby == kept_in_order.end() ? row : *nearby;
    if (nearby == kept_in_order.end()) kept_in_order.push_back(row);
  }
  Deduped result;
  result.kept = kept_in_order;
  std::sort(result.kept.begin(), result.kept.end());
  for (std::uint64_t row = 0; row < count; ++row) {
    const auto place = std::lower_bound(result.kept.begin(), result.kept.end(), stands_for[row]);
    result.map.push_back(static_cast<std::uint32_t>(place - result.kept.begin()));
  }
  return result;
}

Deduped loop_over_equal(PointView points, const DedupeOptions& options) {
  return plain_loop(points.rows(), options, [&](std::uint32_t a, std::uint32_t b) {
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      if (points.at(a, d) != points.at(b, d)) return false;
    }
    return true;
  });
}

Deduped loop_over_near(PointView points, const DedupeOptions& options) {
  const NeighborLists lists = test::oracle_radius({points, nullptr, options.metric, false, false}, *options.tolerance);
  std::vector<std::vector<bool>> near(points.rows(), std::vector<bool>(points.rows(), false));
  for (std::uint64_t i = 0; i < points.rows(); ++i) {
    for (std::uint64_t j = 0; j < lists.count(i); ++j) near[i][lists.index(i, j)] = true;
  }
  return plain_loop(points.rows(), options, [&](std::uint32_t a, std::uint32_t b) { return bool(near[a][b]); });
}

/// The same for L2, with a distance computed only where the loop asks for it.
template <typename T>
Deduped loop_over_near_l2(PointView points, const DedupeOptions& options) {
  return plain_loop(points.rows(), options, [&](std::uint32_t a, std::uint32_t b) {
    T sum = 0;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      const T difference = points.row<T>(a)[d] - points.row<T>(b)[d];
      sum = std::fma(difference, difference, sum);
    }
    return static_cast<double>(std::sqrt(sum)) <= *options.tolerance;
  });
}

void expect_equal(const Deduped& expected, const Deduped& found) {
  EXPECT_EQ(expected.kept, found.kept);
  EXPECT_EQ(expected.map, found.map);
  EXPECT_EQ(expected.skipped, found.skipped);
}

TEST(Dedupe, KeepsTheFirstOfEqualPointsAndTheOrder) {
  const std::vector<float> values = {3, 0, 1, 1, 3, -0.0f, 2, 2, 1, 1};
  const Deduped found = dedupe(view_of(values, 2));
  EXPECT_EQ(found.kept, (Rows{0, 1, 3}));
  EXPECT_EQ(found.map, (Rows{0, 1, 0, 2, 1}));
  EXPECT_EQ(found.skipped, 0u);
}

TEST(Dedupe, KeepsTheBestScoreAndItsPlaceInTheInput) {
  const std::vector<double> values = {5, 5, 7, 5, 7};
  const std::vector<double> scores = {1, 3, 2, 3, 9};
  EXPECT_EQ(dedupe(view_of(values, 1), {.scores = scores}).kept, (Rows{1, 4}));
  EXPECT_EQ(dedupe(view_of(values, 1), {.scores = scores}).map, (Rows{0, 0, 1, 0, 1}));
  EXPECT_EQ(dedupe(view_of(values, 1), {.scores = scores, .prefer_low = true}).kept, (Rows{0, 2}));
}

TEST(Dedupe, WithinTheToleranceIsInclusiveAndFollowsTheOrder) {
  // A chain: each point is near the one before it, and only a kept one removes.
  const std::vector<double> values = {0, 1, 2, 3, 4.5};
  const Deduped found = dedupe(view_of(values, 1), {.tolerance = 1.0});
  EXPECT_EQ(found.kept, (Rows{0, 2, 4}));
  EXPECT_EQ(found.map, (Rows{0, 0, 1, 1, 2}));
  const std::vector<double> scores = {0, 1, 0, 1, 0};
  const Deduped scored = dedupe(view_of(values, 1), {.tolerance = 1.0, .scores = scores});
  EXPECT_EQ(scored.kept, (Rows{1, 3, 4}));
  EXPECT_EQ(scored.map, (Rows{0, 0, 0, 1, 2}));  // 2 is as near to 1 as to 3; 1 comes first
  EXPECT_EQ(dedupe(view_of(values, 1), {.tolerance = std::nextafter(1.0, 0.0)}).kept.size(), 5u);
}

TEST(Dedupe, NothingOnePointAndEverythingWithinReach) {
  EXPECT_TRUE(dedupe(PointView(static_cast<const float*>(nullptr), 0, 3)).kept.empty());
  EXPECT_TRUE(dedupe(PointView(static_cast<const float*>(nullptr), 0, 3), {.tolerance = 1.0}).kept.empty());
  const std::vector<float> one = {1, 2, 3};
  EXPECT_EQ(dedupe(view_of(one, 3)).kept, Rows{0});
  EXPECT_EQ(dedupe(view_of(one, 3), {.tolerance = 0.0}).kept, Rows{0});
  const PointSet many = [] {
    std::mt19937_64 random(1);
    return test::nasty_points(test::NastyShape::uniform, DType::f32, 5000, 3, random);
  }();
  const Deduped found = dedupe(many.view(), {.tolerance = std::numeric_limits<double>::infinity()});
  EXPECT_EQ(found.kept, Rows{0});
  EXPECT_EQ(found.map, Rows(5000, 0));
}

TEST(Dedupe, BadRowsAreNamedOrLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = {1, 1, nan, 0, 1, 1, 2, 2};
  try {
    dedupe(view_of(values, 2));
    FAIL() << "NaN was taken";
  } catch (const BadData& error) {
    EXPECT_NE(std::string(error.what()).find("row 1, column 0 (counted from 0) is NaN"), std::string::npos);
  }
  const Deduped exact = dedupe(view_of(values, 2), {.skip_nonfinite = true});
  EXPECT_EQ(exact.kept, (Rows{0, 3}));
  EXPECT_EQ(exact.map, (Rows{0, kLeftOut, 0, 1}));
  EXPECT_EQ(exact.skipped, 1u);
  const Deduped near = dedupe(view_of(values, 2), {.tolerance = 2.0, .skip_nonfinite = true});
  EXPECT_EQ(near.kept, Rows{0});
  EXPECT_EQ(near.map, (Rows{0, kLeftOut, 0, 0}));

  const std::vector<double> scores = {1, 1, nan, 1};
  const std::vector<double> good = {1, 2, 3, 4};
  EXPECT_THROW(dedupe(view_of(good, 1), {.scores = scores}), BadData);
  EXPECT_EQ(dedupe(view_of(good, 1), {.scores = scores, .skip_nonfinite = true}).kept, (Rows{0, 1, 3}));
  const std::vector<double> zero = {1, 0, 0, 0};
  EXPECT_THROW(dedupe(view_of(zero, 2), {.tolerance = 0.5, .metric = Metric::cosine()}), BadData);
  EXPECT_EQ(dedupe(view_of(zero, 2), {.metric = Metric::cosine()}).kept.size(), 2u);
}

TEST(Dedupe, RefusesWhatMakesNoSense) {
  const std::vector<double> values = {1, 2, 3};
  const std::vector<double> scores = {1, 2};
  EXPECT_THROW(dedupe(view_of(values, 1), {.tolerance = -1.0}), UsageError);
  EXPECT_THROW(dedupe(view_of(values, 1), {.tolerance = std::nan("")}), UsageError);
  EXPECT_THROW(dedupe(view_of(values, 1), {.scores = scores}), UsageError);
  EXPECT_THROW(dedupe(view_of(values, 1), {.threads = -1}), UsageError);
}

TEST(Dedupe, EqualPointsAsThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const test::SearchCase c = test::random_case(seed);
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    std::mt19937_64 random(seed);
    std::vector<double> scores(c.points.rows());
    for (double& score : scores) score = static_cast<double>(random() % 3);
    DedupeOptions options{.threads = c.options.threads};
    if (seed % 2 == 1) options.scores = scores;
    options.prefer_low = seed % 4 == 3;
    expect_equal(loop_over_equal(c.points.view(), options), dedupe(c.points.view(), options));
  }
}

TEST(Dedupe, NearPointsAsThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const test::SearchCase c = test::random_case(seed);
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    std::mt19937_64 random(seed);
    std::vector<double> scores(c.points.rows());
    for (double& score : scores) score = static_cast<double>(random() % 50);
    DedupeOptions options{.tolerance = c.radius, .metric = c.metric, .threads = c.options.threads};
    if (seed % 3 == 1) options.scores = scores;
    expect_equal(loop_over_near(c.points.view(), options), dedupe(c.points.view(), options));
  }
}

/// Larger sets, so that lists are cut, points stay open and halves are thinned out one after the other; every order
/// and every number of threads.
TEST(Dedupe, CrowdedPointsAsThePlainLoop) {
  const auto count_of_shapes = static_cast<std::uint64_t>(test::NastyShape::count_of_shapes);
  for (std::uint64_t seed = 0; seed < 36; ++seed) {
    std::mt19937_64 random(seed + 77);
    const auto shape = static_cast<test::NastyShape>(seed % count_of_shapes);
    const auto dims = static_cast<std::uint32_t>(1 + random() % 3);
    const DType dtype = seed % 2 == 0 ? DType::f32 : DType::f64;
    const PointSet points = test::nasty_points(shape, dtype, 1500, dims, random);
    // From hardly anybody within reach to nearly everybody.
    const double radius = std::pow(10.0, -3.0 + static_cast<double>(random() % 1000) / 300);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", shape " << static_cast<int>(shape) << ", " << dims
                                    << " dims, tolerance " << radius);
    DedupeOptions options{.tolerance = radius};
    std::vector<double> scores(points.rows());
    for (double& score : scores) score = static_cast<double>(random() % 1000);
    if (seed % 3 == 0) options.scores = scores;
    const Deduped expected = dtype == DType::f32 ? loop_over_near_l2<float>(points.view(), options)
                                                 : loop_over_near_l2<double>(points.view(), options);
    for (const int threads : {1, 2, 5}) {
      options.threads = threads;
      expect_equal(expected, dedupe(points.view(), options));
    }
  }
}

/// The word that `scramble` turns into `word`.
std::uint64_t unscramble(std::uint64_t word) {
  const auto undo_shift = [](std::uint64_t value, int shift) {
    std::uint64_t out = value;
    for (int i = 0; i < 64 / shift; ++i) out = value ^ (out >> shift);
    return out;
  };
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t out = odd;  // each step doubles the number of right bits
    for (int i = 0; i < 6; ++i) out *= 2 - odd * out;
    return out;
  };
  word = undo_shift(word, 31) * inverse(0x94D049BB133111EBULL);
  word = undo_shift(word, 27) * inverse(0xBF58476D1CE4E5B9ULL);
  return undo_shift(word, 30);
}

TEST(Dedupe, DifferentPointsWithOneHashAreToldApart) {
  std::vector<double> values;
  for (std::uint64_t i = 0; values.size() < 1000; ++i) {
    const double value = std::bit_cast<double>(unscramble(i << 32 | 12345) ^ 0x9E3779B97F4A7C15ULL);
    if (!std::isfinite(value) || value == 0) continue;
    ASSERT_EQ(hash_of_row(&value, 1) & 0xffffffff, 12345u);
    values.push_back(value);
  }
  for (std::size_t i = 0; i < 500; ++i) values.push_back(values[3 * i % 1000]);
  expect_equal(loop_over_equal(view_of(values, 1), {}), dedupe(view_of(values, 1)));
}

TEST(Dedupe, ManyEqualPointsAreNoTrouble) {
  std::vector<float> values(300000, 1.0f);
  values.back() = 2.0f;
  const PointView points(values.data(), 100000, 3);
  EXPECT_EQ(dedupe(points).kept, (Rows{0, 99999}));
  EXPECT_EQ(dedupe(points, {.tolerance = 0.5}).kept, (Rows{0, 99999}));
  EXPECT_EQ(dedupe(points, {.tolerance = 1.0}).kept, (Rows{0}));
}

TEST(Dedupe, LargeSetsGiveOneAnswerForEveryNumberOfThreads) {
  std::mt19937_64 random(5);
  std::vector<float> values(300000);
  for (float& value : values) value = static_cast<float>(random() % 40);
  const PointView points(values.data(), 100000, 3);  // 64000 places on a grid, most of them taken
  const Deduped one = dedupe(points, {.threads = 1});
  EXPECT_GT(one.kept.size(), 40000u);
  EXPECT_LT(one.kept.size(), 64001u);
  expect_equal(one, dedupe(points, {.threads = 5}));
  const Deduped near = dedupe(points, {.tolerance = 1.0, .threads = 1});
  expect_equal(near, dedupe(points, {.tolerance = 1.0, .threads = 5}));
  const Deduped far = dedupe(points, {.tolerance = 7.0, .threads = 2});
  EXPECT_LT(far.kept.size(), 600u);
  const PointSet kept = take_rows(points, far.kept);
  EXPECT_EQ(dedupe(kept.view(), {.tolerance = 7.0}).kept.size(), far.kept.size());
}

TEST(Dedupe, ReportsAndStops) {
  std::mt19937_64 random(5);
  const PointSet points = test::nasty_points(test::NastyShape::uniform, DType::f32, 20000, 3, random);
  for (const bool near : {false, true}) {
    DedupeOptions options;
    if (near) options.tolerance = 0.05;
    int reports = 0;
    options.progress = [&](const Progress& progress) {
      ++reports;
      EXPECT_LE(progress.done, progress.total);
      return true;
    };
    dedupe(points.view(), options);
    EXPECT_GT(reports, 0);
    options.progress = [](const Progress&) { return false; };
    EXPECT_THROW(dedupe(points.view(), options), Interrupted);
  }
}

TEST(Dedupe, TheProgressBarTellsTheTruth) {
  std::mt19937_64 random(6);
  const PointSet points = test::nasty_points(test::NastyShape::uniform, DType::f32, 60000, 3, random);
  for (const double tolerance : {0.01, 0.1, 0.4}) {  // sparse, crowded, very crowded
    std::vector<std::pair<std::string, std::uint64_t>> reports;
    std::map<std::string, std::uint64_t> totals;
    DedupeOptions options;
    options.tolerance = tolerance;
    options.want_map = true;
    options.progress = [&](const Progress& progress) {
      const std::string stage(progress.stage);
      if (progress.total != 0) {
        EXPECT_LE(progress.done, progress.total);
        const bool is_new = totals.emplace(stage, progress.total).second;
        EXPECT_TRUE(is_new || totals[stage] == progress.total) << stage;
      }
      if (!reports.empty() && reports.back().first == stage) {
        EXPECT_GE(progress.done, reports.back().second) << stage;
      }
      reports.emplace_back(stage, progress.done);
      return true;
    };
    const Deduped result = dedupe(points.view(), options);
    ASSERT_EQ(totals["thinning out"], 60000u);
    ASSERT_EQ(totals["mapping"], 60000u - result.kept.size());
    std::set<std::string> ended;  // no stage comes back after the next one has begun
    for (std::size_t i = 0; i + 1 < reports.size(); ++i) {
      if (reports[i].first == reports[i + 1].first) continue;
      EXPECT_TRUE(ended.insert(reports[i].first).second) << reports[i].first;
      if (totals.contains(reports[i].first)) {
        EXPECT_EQ(reports[i].second, totals[reports[i].first]) << reports[i].first;
      }
    }
    EXPECT_EQ(reports.back(), std::pair(std::string("mapping"), totals["mapping"]));
  }
}

TEST(TakeRows, CopiesRowsThatLieApart) {
  const std::vector<double> values = {1, 2, 77, 3, 4, 88, 5, 6, 99};
  const PointSet taken = take_rows(PointView(values.data(), DType::f64, 3, 2, 3), Rows{2, 0, 2});
  const std::vector<double> expected = {5, 6, 1, 2, 5, 6};
  EXPECT_TRUE(std::ranges::equal(taken.values<double>(), expected));
  EXPECT_THROW(take_rows(PointView(values.data(), DType::f64, 3, 2, 3), Rows{3}), UsageError);
}

}  // namespace
}  // namespace kith::apps
