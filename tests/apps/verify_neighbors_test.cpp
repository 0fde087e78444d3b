// Right results pass, and every kind of wrong one is found and named.
#include <kith/apps/verify_neighbors.hpp>

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Five points on a line; the query 0 is 1 away from points 1 and 2.
class OnALine : public testing::Test {
 protected:
  const std::vector<float> points_ = {3, 1, -1, 5, 2};
  const std::vector<float> queries_ = {0, 4};
  std::vector<std::uint32_t> indices_ = {1, 2, 4, 0, 3, 4};
  std::vector<float> distances_ = {1, 1, 2, 1, 1, 2};
  VerifyOptions options_;

  PointView points() const { return PointView(points_.data(), points_.size(), 1); }
  PointView queries() const { return PointView(queries_.data(), queries_.size(), 1); }
  Verdict verify() const {
    return verify_neighbors(Neighbors(2, 3, 5, indices_, Distances(distances_)), points(), queries(), options_);
  }
  void expect_violation(const std::string& text) const {
    const Verdict verdict = verify();
    EXPECT_EQ(verdict.checked, 2u);
    EXPECT_EQ(verdict.wrong, 1u);
    EXPECT_EQ(verdict.first_violation, text);
  }
};

TEST_F(OnALine, TheRightAnswerPasses) {
  const Verdict verdict = verify();
  EXPECT_EQ(verdict.checked, 2u);
  EXPECT_EQ(verdict.wrong, 0u);
  EXPECT_EQ(verdict.first_violation, "");
}

TEST_F(OnALine, AWrongDistanceIsNamed) {
  distances_[2] = std::nextafter(2.0f, 3.0f);
  expect_violation("query 0, rank 2: the list says distance 2.0000002, but point 4 is at distance 2");
}

TEST_F(OnALine, TheSignOfZeroIsABit) {
  const std::vector<float> one = {7};
  const PointView view(one.data(), 1, 1);
  const auto check = [&](float zero) {
    return verify_neighbors(Neighbors(1, 1, 1, {0}, Distances(std::vector<float>{zero})), view, view).wrong;
  };
  EXPECT_EQ(check(0.0f), 0u);
  EXPECT_EQ(check(-0.0f), 1u);
}

TEST_F(OnALine, AWrongTieIsNamed) {
  std::swap(indices_[0], indices_[1]);
  expect_violation("query 0, rank 0: point 2 is listed, but point 1 is at the same distance 1 and has the lower index");
}

TEST_F(OnALine, AMissingNeighbourIsNamed) {
  indices_[4] = 1;
  distances_[4] = 3;
  expect_violation("query 1, rank 1: point 3 at distance 1 is missing, point 1 at distance 3 is listed instead");
}

TEST_F(OnALine, AWrongOrderIsNamed) {
  std::swap(indices_[1], indices_[2]);
  std::swap(distances_[1], distances_[2]);
  expect_violation("query 0, rank 1: the order is wrong: point 4 at distance 2 comes before point 2 at distance 1");
}

TEST_F(OnALine, ARepeatedPointIsNamed) {
  indices_[1] = 1;
  expect_violation("query 0, rank 1: point 1 is in the list twice");
}

TEST_F(OnALine, AnIndexThatDoesNotExistIsNamed) {
  indices_[5] = 6;
  expect_violation("query 1, rank 2: the list has index 6, but there are 5 points");
}

TEST_F(OnALine, AnEmptyPlaceThatShouldNotBeIsNamed) {
  indices_[5] = 5;
  distances_[5] = kInf;
  expect_violation("query 1, rank 2: no neighbour is listed, but point 4 at distance 2 belongs here");
}

TEST_F(OnALine, TheLowestWrongQueryIsNamedAndAllAreCounted) {
  distances_[0] = 9;
  distances_[3] = 9;
  for (const int threads : {1, 4}) {
    options_.threads = threads;
    const Verdict verdict = verify();
    EXPECT_EQ(verdict.wrong, 2u);
    EXPECT_EQ(verdict.first_violation.substr(0, 8), "query 0,");
  }
}

TEST_F(OnALine, SquaredDistancesAreCheckedWhenAskedFor) {
  options_.squared = true;
  EXPECT_EQ(verify().wrong, 2u);
  distances_ = {1, 1, 4, 1, 1, 4};
  EXPECT_EQ(verify().wrong, 0u);
}

TEST_F(OnALine, MoreNeighboursThanPointsEndWithMissingOnes) {
  const std::vector<std::uint32_t> indices = {1, 2, 4, 0, 3, 5, 5, 0, 3, 4, 1, 2, 5, 5};
  const std::vector<float> distances = {1, 1, 2, 3, 5, kInf, kInf, 1, 1, 2, 3, 5, kInf, kInf};
  const auto check = [&](std::size_t i, std::uint32_t index, float distance) {
    auto some_indices = indices;
    auto some_distances = distances;
    some_indices[i] = index;
    some_distances[i] = distance;
    return verify_neighbors(Neighbors(2, 7, 5, some_indices, Distances(some_distances)), points(), queries());
  };
  EXPECT_EQ(check(0, 1, 1).wrong, 0u);
  EXPECT_EQ(check(6, 5, 0).first_violation, "query 0, rank 6: a missing neighbour has distance 0; it must be inf");
  EXPECT_EQ(check(5, 0, 3).first_violation, "query 0, rank 5: point 0 is in the list twice");
}

TEST_F(OnALine, SelfCanBeExcluded) {
  options_.exclude_self = true;
  const Neighbors right(5, 1, 5, {4, 4, 1, 0, 0}, Distances(std::vector<float>{1, 1, 2, 2, 1}));
  EXPECT_EQ(verify_neighbors(right, points(), points(), options_).wrong, 0u);
  const Neighbors with_self(5, 1, 5, {4, 1, 1, 0, 0}, Distances(std::vector<float>{1, 0, 2, 2, 1}));
  EXPECT_EQ(verify_neighbors(with_self, points(), points(), options_).first_violation,
            "query 1, rank 0: point 1 is listed, but it is excluded from this search");
  EXPECT_THROW(verify(), UsageError);
}

TEST_F(OnALine, RadiusListsAreChecked) {
  const auto check = [&](std::vector<std::uint64_t> offsets, std::vector<std::uint32_t> indices,
                         std::vector<float> distances) {
    const NeighborLists lists(5, std::move(offsets), std::move(indices), Distances(std::move(distances)));
    return verify_neighbors(lists, 2.0, points(), queries(), options_);
  };
  EXPECT_EQ(check({0, 3, 6}, {1, 2, 4, 0, 3, 4}, {1, 1, 2, 1, 1, 2}).wrong, 0u);
  EXPECT_EQ(check({0, 2, 5}, {1, 2, 0, 3, 4}, {1, 1, 1, 1, 2}).first_violation,
            "query 0, rank 2: the list ends after 2 of 3 neighbours; point 4 at distance 2 is missing");
  EXPECT_EQ(check({0, 4, 7}, {1, 2, 4, 0, 0, 3, 4}, {1, 1, 2, 3, 1, 1, 2}).first_violation,
            "query 0, rank 3: point 0 is listed, but the list should end after 3 neighbours");
  options_.max_neighbors = 2;
  EXPECT_EQ(check({0, 2, 4}, {1, 2, 0, 3}, {1, 1, 1, 1}).wrong, 0u);
  EXPECT_EQ(check({0, 3, 6}, {1, 2, 4, 0, 3, 4}, {1, 1, 2, 1, 1, 2}).wrong, 2u);
  options_ = {};
  options_.squared = true;  // the radius stays a plain distance
  EXPECT_EQ(check({0, 3, 6}, {1, 2, 4, 0, 3, 4}, {1, 1, 4, 1, 1, 4}).wrong, 0u);
  EXPECT_THROW(check({0, 3, 5}, {1, 2, 4, 0, 3, 4}, {1, 1, 2, 1, 1, 2}), UsageError);
  EXPECT_THROW(check({0, 7, 6}, {1, 2, 4, 0, 3, 4}, {1, 1, 2, 1, 1, 2}), UsageError);
}

TEST_F(OnALine, EachQueryMayHaveARadiusOfItsOwn) {
  const auto verify_within =
      [&](const std::vector<double>& radii) {  // query 0 found 1 and 2 at 1, query 4 point 0 and 3
        return verify_neighbors(
            NeighborLists(5, {0, 2, 5}, {1, 2, 0, 3, 4}, Distances(std::vector<float>{1, 1, 1, 1, 2})), radii, points(),
            queries(), options_);
      };
  EXPECT_EQ(verify_within({1, 2}).first_violation, "");
  EXPECT_EQ(verify_within({1.5, 2.9}).wrong, 0u);
  EXPECT_EQ(verify_within({1, 1}).wrong, 1u);
  EXPECT_EQ(verify_within({2, 2}).wrong, 1u);
  EXPECT_EQ(verify_within({0, 3}).wrong, 2u);
  EXPECT_THROW(verify_within({1}), UsageError);
  EXPECT_THROW(verify_within({1, std::nan("")}), UsageError);
}

TEST(VerifyNeighbors, TheRadiusIsComparedWithTheDistanceThatIsReported) {
  // In floats 1.1 * 1.1 is rounded, but its root is 1.1 again; a radius just below that leaves the point out.
  const std::vector<float> points = {0, 1.1f};
  const std::vector<float> query = {0};
  const double radius = static_cast<double>(1.1f);
  const NeighborLists inside(2, {0, 2}, {0, 1}, Distances(std::vector<float>{0, 1.1f}));
  const NeighborLists outside(2, {0, 1}, {0}, Distances(std::vector<float>{0}));
  const PointView view(points.data(), 2, 1);
  const PointView asked(query.data(), 1, 1);
  EXPECT_EQ(verify_neighbors(inside, radius, view, asked).wrong, 0u);
  EXPECT_EQ(verify_neighbors(outside, std::nextafter(radius, 0.0), view, asked).wrong, 0u);
  EXPECT_EQ(verify_neighbors(inside, std::nextafter(radius, 0.0), view, asked).wrong, 1u);
}

TEST(VerifyNeighbors, RowsThatAreNotFiniteAreLeftOutOnlyWhenSaid) {
  const std::vector<float> points = {0, kNan, 2};
  const std::vector<float> queries = {kInf, 2};
  const PointView view(points.data(), 3, 1);
  const PointView asked(queries.data(), 2, 1);
  const Neighbors found(2, 2, 3, {3, 3, 2, 0}, Distances(std::vector<float>{kInf, kInf, 0, 2}));
  VerifyOptions options;
  EXPECT_THROW(verify_neighbors(found, view, asked, options), BadData);
  options.skip_nonfinite = true;
  EXPECT_EQ(verify_neighbors(found, view, asked, options).wrong, 0u);
  const Neighbors wrong(2, 2, 3, {3, 3, 2, 1}, Distances(std::vector<float>{kInf, kInf, 0, 2}));
  EXPECT_EQ(verify_neighbors(wrong, view, asked, options).first_violation,
            "query 1, rank 1: point 1 is listed, but it is excluded from this search");
  const NeighborLists lists(3, {0, 0, 1}, {2}, Distances(std::vector<float>{0}));
  EXPECT_EQ(verify_neighbors(lists, 1, view, asked, options).wrong, 0u);
}

TEST(VerifyNeighbors, CosineComparesDirections) {
  const std::vector<double> points = {2, 0, 0, 3, -1, 0};
  const std::vector<double> query = {5, 0};
  VerifyOptions options;
  options.metric = Metric::cosine();
  const PointView view(points.data(), 3, 2);
  const PointView asked(query.data(), 1, 2);
  const Neighbors found(1, 3, 3, {0, 1, 2}, Distances(std::vector<double>{0, 1, 2}));
  EXPECT_EQ(verify_neighbors(found, view, asked, options).wrong, 0u);
  const NeighborLists lists(3, {0, 2}, {0, 1}, Distances(std::vector<double>{0, 1}));
  EXPECT_EQ(verify_neighbors(lists, 1, view, asked, options).wrong, 0u);
  const std::vector<double> zero = {0, 0};
  EXPECT_THROW(verify_neighbors(found, view, PointView(zero.data(), 1, 2), options), BadData);
}

/// All metrics on random points, answered here by sorting everything.
template <typename T>
void check_random_case(std::uint64_t seed, Metric metric) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << metric.name());
  std::mt19937_64 random(seed);
  const std::uint32_t dims = 1 + static_cast<std::uint32_t>(random() % 5);
  const std::uint32_t count = 3 + static_cast<std::uint32_t>(random() % 40);
  std::vector<T> points(count * dims);
  for (T& value : points) value = static_cast<T>(1 + random() % 7) / 3;  // many ties
  const auto value_between = [&](std::uint32_t a, std::uint32_t b) {
    T sum = 0;
    for (std::uint32_t d = 0; d < dims; ++d) {
      const T e = points[a * dims + d] - points[b * dims + d];
      if (metric == Metric::l2()) sum = std::fma(e, e, sum);
      if (metric == Metric::l1()) sum = sum + std::abs(e);
      if (metric == Metric::linf()) sum = std::abs(e) > sum ? std::abs(e) : sum;
      if (metric.kind() == Metric::Kind::lp) sum += std::pow(std::abs(e), T(3));
    }
    return sum;
  };
  const auto reported = [&](T value) {
    if (metric == Metric::l2()) return std::sqrt(value);
    return metric.kind() == Metric::Kind::lp ? std::cbrt(value) : value;  // cbrt may differ from pow in the last place
  };
  const std::uint32_t k = 1 + static_cast<std::uint32_t>(random() % count);
  std::vector<std::uint32_t> indices;
  std::vector<T> distances;
  for (std::uint32_t q = 0; q < count; ++q) {
    std::vector<std::pair<T, std::uint32_t>> all;
    for (std::uint32_t i = 0; i < count; ++i) all.emplace_back(value_between(q, i), i);
    std::sort(all.begin(), all.end());
    for (std::uint32_t j = 0; j < k; ++j) {
      indices.push_back(all[j].second);
      distances.push_back(reported(all[j].first));
    }
  }
  VerifyOptions options;
  options.metric = metric;
  const PointView view(points.data(), count, dims);
  EXPECT_EQ(verify_neighbors(Neighbors(count, k, count, indices, Distances(distances)), view, view, options).wrong, 0u);

  // Any one index replaced by another is found.
  const std::size_t place = random() % indices.size();
  indices[place] = (indices[place] + 1 + static_cast<std::uint32_t>(random() % (count - 1))) % count;
  const Verdict verdict =
      verify_neighbors(Neighbors(count, k, count, indices, Distances(distances)), view, view, options);
  if (metric.kind() != Metric::Kind::lp) {
    EXPECT_EQ(verdict.wrong, 1u);
    EXPECT_EQ(verdict.first_violation.rfind("query " + std::to_string(place / k) + ", rank ", 0), 0u)
        << verdict.first_violation;
  }
}

TEST(VerifyNeighbors, RandomCasesOfEveryMetric) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(3)}) {
      check_random_case<float>(seed, metric);
      check_random_case<double>(seed, metric);
    }
  }
}

TEST(VerifyNeighbors, LpToleratesAFewUnitsInTheLastPlaceAndNoMore) {
  const std::vector<double> points = {0, 0, 1, 1, 2, 2};
  VerifyOptions options;
  options.metric = Metric::lp(3);
  const PointView view(points.data(), 3, 2);
  const double step = std::cbrt(2.0);
  const auto check = [&](std::vector<std::uint32_t> indices, std::vector<double> distances) {
    return verify_neighbors(Neighbors(1, 3, 3, std::move(indices), Distances(std::move(distances))), view,
                            view.slice(0, 1), options);
  };
  EXPECT_EQ(check({0, 1, 2}, {0, step, 2 * step}).wrong, 0u);
  EXPECT_EQ(check({0, 1, 2}, {0, step * (1 + 4e-16), 2 * step}).wrong, 0u);
  EXPECT_EQ(check({0, 1, 2}, {0, step * (1 + 1e-13), 2 * step}).wrong, 1u);
  EXPECT_EQ(check({0, 2, 1}, {0, 2 * step, step}).wrong, 1u);
  EXPECT_EQ(check({0, 1, 1}, {0, step, 2 * step}).first_violation, "query 0, rank 2: point 1 is in the list twice");
  EXPECT_EQ(check({0, 1, 3}, {0, step, std::numeric_limits<double>::infinity()}).wrong, 1u);

  const auto check_radius = [&](double radius, std::vector<std::uint32_t> indices, std::vector<double> distances) {
    const NeighborLists lists(3, {0, indices.size()}, indices, Distances(std::move(distances)));
    return verify_neighbors(lists, radius, view, view.slice(0, 1), options).wrong;
  };
  EXPECT_EQ(check_radius(1.3, {0, 1}, {0, step}), 0u);
  EXPECT_EQ(check_radius(1.3, {0}, {0}), 1u);
  EXPECT_EQ(check_radius(1.2, {0, 1}, {0, step}), 1u);
  EXPECT_EQ(check_radius(step, {0, 1}, {0, step}), 0u);  // on the edge either is right
  EXPECT_EQ(check_radius(step, {0}, {0}), 0u);
}

TEST(VerifyNeighbors, ASampleLooksAtDifferentQueriesChosenBySeed) {
  const std::vector<float> points(1000, 0.0f);
  const PointView view(points.data(), 1000, 1);
  std::vector<float> distances(1000, 0.0f);
  std::fill(distances.begin() + 500, distances.end(), 1.0f);  // the second half is wrong
  const Neighbors found(1000, 1, 1000, std::vector<std::uint32_t>(1000, 0), Distances(distances));
  VerifyOptions options;
  options.sample = 200;
  const Verdict one = verify_neighbors(found, view, view, options);
  EXPECT_EQ(one.checked, 200u);
  EXPECT_GT(one.wrong, 50u);
  EXPECT_LT(one.wrong, 150u);
  EXPECT_EQ(verify_neighbors(found, view, view, options).first_violation, one.first_violation);
  bool differs = false;
  for (options.seed = 2; options.seed < 6; ++options.seed) {
    differs = differs || verify_neighbors(found, view, view, options).first_violation != one.first_violation;
  }
  EXPECT_TRUE(differs);
  options.sample = 999;
  EXPECT_GE(verify_neighbors(found, view, view, options).wrong, 499u);  // drawn without repetition
  options.sample = 5000;
  EXPECT_EQ(verify_neighbors(found, view, view, options).checked, 1000u);
}

TEST(VerifyNeighbors, NothingToCheckIsRight) {
  const PointView none(static_cast<const float*>(nullptr), 0, 3);
  EXPECT_EQ(verify_neighbors(Neighbors(0, 4, 0, {}, Distances(std::vector<float>{})), none, none).checked, 0u);
  const std::vector<float> query = {1, 2, 3};
  const PointView asked(query.data(), 1, 3);
  EXPECT_EQ(verify_neighbors(Neighbors(1, 0, 0, {}, Distances(std::vector<float>{})), none, asked).wrong, 0u);
  const Neighbors missing(1, 1, 0, {0}, Distances(std::vector<float>{kInf}));
  EXPECT_EQ(verify_neighbors(missing, none, asked).wrong, 0u);
}

TEST(VerifyNeighbors, SizesThatDoNotMatchAreRefused) {
  const std::vector<float> floats = {1, 2, 3, 4};
  const std::vector<double> doubles = {1, 2, 3, 4};
  const PointView view(floats.data(), 4, 1);
  const Neighbors found(4, 1, 4, {0, 1, 2, 3}, Distances(std::vector<float>(4, 0.0f)));
  EXPECT_EQ(verify_neighbors(found, view, view).wrong, 0u);
  EXPECT_THROW(verify_neighbors(found, view.slice(0, 3), view), UsageError);
  EXPECT_THROW(verify_neighbors(found, view, view.slice(0, 3)), UsageError);
  EXPECT_THROW(verify_neighbors(found, view, PointView(floats.data(), 2, 2)), UsageError);
  EXPECT_THROW(verify_neighbors(found, PointView(doubles.data(), 4, 1), view), UsageError);
  EXPECT_THROW(verify_neighbors(found, PointView(doubles.data(), 4, 1), PointView(doubles.data(), 4, 1)), UsageError);
  const Neighbors short_of_distances(4, 1, 4, {0, 1, 2, 3}, Distances(std::vector<float>(3, 0.0f)));
  EXPECT_THROW(verify_neighbors(short_of_distances, view, view), UsageError);
  const NeighborLists lists(4, {0, 0, 0, 0, 0}, {}, Distances(std::vector<float>{}));
  EXPECT_THROW(verify_neighbors(lists, std::nan(""), view, view), UsageError);
}

TEST(VerifyNeighbors, StopsWhenTold) {
  const std::vector<float> points(100, 0.0f);
  const PointView view(points.data(), 100, 1);
  VerifyOptions options;
  options.progress = [](const Progress&) { return false; };
  const Neighbors found(100, 1, 100, std::vector<std::uint32_t>(100, 0), Distances(std::vector<float>(100, 0.0f)));
  EXPECT_THROW(verify_neighbors(found, view, view, options), Interrupted);
}

}  // namespace
}  // namespace kith::apps
