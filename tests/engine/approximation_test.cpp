// What eps and a budget of leaves promise, on every engine: those that know neither answer exactly.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include "engine/knn_rules.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace kith::test {
namespace {

class Approximation : public testing::TestWithParam<EngineOnDevice> {
 protected:
  /// Random cases that the engine knows, with some options of approximation.
  template <typename Check>
  void for_cases(std::uint64_t first, std::uint64_t end, Check&& check) const {
    const bool with_periods = knows_periods(GetParam());
    for (std::uint64_t seed = first; seed < end; ++seed) {
      SearchCase c = random_case(seed);
      if (c.is_self || (!c.period.empty() && !with_periods)) continue;
      if (!knows_metric(GetParam(), c.metric)) continue;
      SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
      c.options.max_distance = c.max_distance;
      check(c, Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device)), seed);
      if (HasFailure()) return;
    }
  }
};

void expect_exact_where_certified(const Neighbors& expected, const Neighbors& found) {
  ASSERT_EQ(found.exact().size(), found.queries());
  for (std::uint64_t q = 0; q < found.queries(); ++q) {
    if (!found.is_exact(q)) continue;
    for (std::uint32_t j = 0; j < found.k(); ++j) {
      ASSERT_EQ(expected.index(q, j), found.index(q, j)) << "certified query " << q << ", rank " << j;
      ASSERT_EQ(expected.distance(q, j), found.distance(q, j)) << "certified query " << q << ", rank " << j;
    }
  }
}

/// Real neighbours at their real distances, none twice, in order: what holds for every answer.
void expect_honest(const Neighbors& everyone, const Neighbors& found) {
  std::vector<double> distance_of(found.missing());
  for (std::uint64_t q = 0; q < found.queries(); ++q) {
    std::fill(distance_of.begin(), distance_of.end(), -1.0);
    for (std::uint32_t j = 0; j < everyone.k() && everyone.index(q, j) < found.missing(); ++j) {
      distance_of[everyone.index(q, j)] = everyone.distance(q, j);
    }
    for (std::uint32_t j = 0; j < found.k(); ++j) {
      if (found.index(q, j) == found.missing()) continue;
      ASSERT_EQ(distance_of[found.index(q, j)], found.distance(q, j)) << "query " << q << ", rank " << j;
      distance_of[found.index(q, j)] = -2;  // none comes twice
      if (j > 0) {
        ASSERT_LE(found.distance(q, j - 1), found.distance(q, j)) << "query " << q << ", rank " << j;
      }
    }
  }
}

TEST_P(Approximation, EpsBoundsEveryDistance) {
  for_cases(50000, 50800, [](SearchCase& c, const Index& index, std::uint64_t seed) {
    c.options.eps = std::array{1e-12, 0.01, 0.3, 1.5, 20.0}[seed % 5];
    const Neighbors expected = oracle_knn(c.request(), c.k);
    const Neighbors found = index.knn(c.queries.view(), c.k, c.options);
    const long double factor = 1 + static_cast<long double>(c.options.eps);
    for (std::uint64_t q = 0; q < found.queries(); ++q) {
      for (std::uint32_t j = 0; j < c.k; ++j) {
        const long double most = static_cast<long double>(expected.distance(q, j)) * factor;
        ASSERT_LE(static_cast<long double>(found.distance(q, j)), c.options.squared ? most * factor : most)
            << "query " << q << ", rank " << j << ", eps " << c.options.eps;
      }
    }
    expect_exact_where_certified(expected, found);
    expect_honest(oracle_knn(c.request(), static_cast<std::uint32_t>(c.points.rows())), found);
  });
}

/// Distances of a few of the smallest numbers there are: a bound times shrink rounds by a large part of itself, down to
/// zero. Equal distances are everywhere.
TEST_P(Approximation, EpsBoundsTheSmallestDistances) {
  std::mt19937_64 random(64);
  for (int round = 0; round < 300; ++round) {
    PointSet points(DType::f32, 60, 2);
    PointSet queries(DType::f32, 20, 2);
    const std::uint64_t values = 2 + random() % 8;
    for (PointSet* set : {&points, &queries}) {
      for (float& x : set->values<float>()) {
        x = std::numeric_limits<float>::denorm_min() * static_cast<float>(random() % values);
      }
    }
    SearchOptions options;
    options.eps = std::array{0.5, 1.0, 3.0}[random() % 3];
    const Metric metric = random() % 2 == 0 ? Metric::l1() : Metric::linf();
    const auto k = static_cast<std::uint32_t>(1 + random() % 3);
    const PointView asked = queries.view();
    const Index index = Index::build(points.view(), {.engine = GetParam().engine,
                                                     .device = GetParam().device,
                                                     .metric = metric,
                                                     .leaf_size = static_cast<std::uint32_t>(1 + random() % 3)});
    const Neighbors expected = oracle_knn({.points = points.view(), .queries = &asked, .metric = metric}, k);
    const Neighbors found = index.knn(asked, k, options);
    for (std::uint64_t q = 0; q < 20; ++q) {
      for (std::uint32_t j = 0; j < k; ++j) {
        ASSERT_LE(found.distance(q, j), expected.distance(q, j) * (1 + options.eps))
            << "round " << round << ", query " << q << ", rank " << j << ", eps " << options.eps;
      }
    }
    expect_exact_where_certified(expected, found);
  }
}

/// A promise that is never used would be kept too.
TEST(TreeApproximation, SavesWork) {
  std::mt19937_64 random(65);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 16000, 9, random);
  const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 300, 9, random);
  const Index index = Index::build(points.view(), {.engine = Engine::kd_tree});
  const auto certified = [&](const SearchOptions& options) {
    const Neighbors found = index.knn(queries.view(), 8, options);
    return std::count(found.exact().begin(), found.exact().end(), std::uint8_t{1});
  };
  EXPECT_LT(certified({.max_leaves = 1}), 30);
  EXPECT_LT(certified({.max_leaves = 1}), certified({.max_leaves = 30}));
  EXPECT_EQ(certified({.max_leaves = 100000}), 300);
  EXPECT_LT(certified({.eps = 3}), 300);
  EXPECT_LE(certified({.eps = 3}), certified({.eps = 0.001}));
}

/// In few dims an exact search is faster than any approximation, and in others than one that spares little.
TEST(TreeApproximation, IsExactWhereThatIsFaster) {
  const auto pays = [](const SearchOptions& options, std::uint32_t dims, std::uint64_t points = 1'000'000) {
    return engine::approximation_pays(options, {dims, points});
  };
  for (const std::uint32_t dims : {1u, 3u, 5u}) EXPECT_FALSE(pays({.eps = 100, .max_leaves = 1}, dims)) << dims;
  EXPECT_TRUE(pays({.max_leaves = 4}, 6));
  EXPECT_FALSE(pays({.max_leaves = 5}, 6));
  EXPECT_TRUE(pays({.max_leaves = 64}, 10));
  EXPECT_FALSE(pays({.eps = 0.9}, 6));
  EXPECT_TRUE(pays({.eps = 1}, 7));
  EXPECT_TRUE(pays({.eps = 0.5}, 8));
  EXPECT_FALSE(pays({.eps = 0.1, .max_leaves = 17}, 8));
  for (const std::uint32_t dims : {35u, 36u, 4096u}) EXPECT_TRUE(pays({.max_leaves = 1900}, dims)) << dims;
  // Of few points an exact search visits few leaves.
  EXPECT_FALSE(pays({.max_leaves = 100}, 12, 12500));
  EXPECT_TRUE(pays({.max_leaves = 24}, 12, 12500));
  EXPECT_TRUE(pays({.max_leaves = 4}, 12, 100));
  EXPECT_FALSE(pays({.eps = 0.125}, 12, 50000));
  EXPECT_TRUE(pays({.eps = 0.125}, 12, 200000));
  EXPECT_TRUE(pays({.eps = 1.5}, 12, 1));

  std::mt19937_64 random(66);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f64, 3000, 3, random);
  const Index index = Index::build(points.view(), {.engine = Engine::kd_tree});
  const Neighbors exact = index.knn_self(5), found = index.knn_self(5, {.eps = 9, .max_leaves = 1});
  EXPECT_EQ(std::count(found.exact().begin(), found.exact().end(), std::uint8_t{1}), 3000);
  for (std::uint64_t q = 0; q < 3000; ++q) ASSERT_EQ(exact.index(q, 4), found.index(q, 4));
}

TEST_P(Approximation, ABudgetKeepsAnswersHonest) {
  for_cases(51000, 51600, [](SearchCase& c, const Index& index, std::uint64_t seed) {
    c.options.max_leaves = static_cast<std::uint32_t>(1 + seed % 6);
    if (seed % 4 == 0) c.options.eps = 0.2;
    const Neighbors found = index.knn(c.queries.view(), c.k, c.options);
    expect_exact_where_certified(oracle_knn(c.request(), c.k), found);
    expect_honest(oracle_knn(c.request(), static_cast<std::uint32_t>(c.points.rows())), found);
  });
}

TEST_P(Approximation, ThreadsAndBatchesDoNotChangeTheAnswer) {
  for_cases(52000, 52500, [](SearchCase& c, const Index& index, std::uint64_t seed) {
    if (!c.options.index_below.empty()) return;
    c.options.max_leaves = static_cast<std::uint32_t>(seed % 4);
    c.options.eps = seed % 3 == 0 || c.options.max_leaves == 0 ? 1.5 : 0;
    const Neighbors all = index.knn(c.queries.view(), c.k, c.options);
    for (const int threads : {1, 2, 5}) {
      c.options.threads = threads;
      expect_same(all, index.knn(c.queries.view(), c.k, c.options));
    }
    for (std::uint64_t first = 0; first < c.queries.rows(); first += 3) {
      const std::uint64_t count = std::min<std::uint64_t>(3, c.queries.rows() - first);
      const Neighbors part = index.knn(c.queries.view().slice(first, count), c.k, c.options);
      for (std::uint64_t q = 0; q < count; ++q) {
        ASSERT_EQ(all.is_exact(first + q), part.is_exact(q)) << "query " << first + q;
        for (std::uint32_t j = 0; j < c.k; ++j) {
          ASSERT_EQ(all.index(first + q, j), part.index(q, j)) << "query " << first + q << ", rank " << j;
          ASSERT_EQ(all.distance(first + q, j), part.distance(q, j)) << "query " << first + q << ", rank " << j;
        }
      }
    }
  });
}

TEST_P(Approximation, FlagsAreThereOnlyWhenAskedFor) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float points[] = {0, 1, 2, 3};
  const float queries[] = {nan, 0.2f, nan, 2.9f};
  const Index index = Index::build(PointView(points, 4, 1), {.engine = GetParam().engine, .device = GetParam().device});
  const PointView asked(queries, 4, 1);
  EXPECT_TRUE(index.knn(asked, 2, {.skip_nonfinite = true}).exact().empty());
  EXPECT_TRUE(index.knn(asked, 2, {.skip_nonfinite = true}).is_exact(3));
  for (const SearchOptions& options :
       {SearchOptions{.eps = 0.5, .skip_nonfinite = true}, SearchOptions{.max_leaves = 100, .skip_nonfinite = true}}) {
    const Neighbors found = index.knn(asked, 2, options);
    ASSERT_EQ(found.exact().size(), 4u);
    EXPECT_TRUE(found.is_exact(0));  // a query that is left out has an empty list, which is right
    EXPECT_TRUE(found.is_exact(2));
    EXPECT_EQ(index.knn(asked, 0, options).exact().size(), 4u);
  }
}

INSTANTIATE_TEST_SUITE_P(Available, Approximation, testing::ValuesIn(available_engines()));

/// The worst pair that a pruning search may return: the k-th reduced distance just not above what a pruned reduced
/// distance times shrink is.
template <typename T>
void expect_promise(Metric metric, double eps) {
  const T shrink = engine::shrink_of_eps<T>(metric, eps);
  ASSERT_GT(shrink, T(0));
  ASSERT_LE(shrink, T(1));
  std::mt19937_64 random(61);
  for (int i = 0; i < 2000; ++i) {
    const auto mantissa = static_cast<double>(random() >> 11);
    const T missed = static_cast<T>(std::ldexp(mantissa, -20 - static_cast<int>(random() % 80)));
    // The largest k-th reduced distance for which a box at `missed` is passed over: missed > fl(kth * shrink).
    T kth = missed / shrink;
    for (int step = 0; step < 8; ++step) kth = std::nextafter(kth, std::numeric_limits<T>::infinity());
    while (kth > 0 && !(missed > kth * shrink)) kth = std::nextafter(kth, T(0));
    if (!std::isfinite(kth)) continue;
    const long double seen = core::reported_distance(metric, false, kth);
    const long double truth = core::reported_distance(metric, false, missed);
    ASSERT_LE(seen, truth * (1 + static_cast<long double>(eps)))
        << metric.name() << " eps " << eps << " reduced " << missed;
    // And it is used: a shrink that is far too careful would prune nothing.
    if (eps > 1e-3 && missed > T(1e-25)) {
      ASSERT_GT(seen * 1.001L, truth * (1 + static_cast<long double>(eps)));
    }
  }
}

TEST(ShrinkOfEps, KeepsThePromiseUnderRounding) {
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf(), Metric::cosine(), Metric::lp(3)}) {
    for (const double eps : {1e-17, 1e-12, 1e-7, 1e-3, 0.1, 0.5, 1.0, 7.0}) {
      expect_promise<float>(metric, eps);
      expect_promise<double>(metric, eps);
    }
  }
}

TEST(ShrinkOfEps, KeepsThePromiseForAngles) {
  const Metric metric = Metric::angular();
  for (const double eps : {1e-17, 1e-12, 1e-7, 1e-3, 0.1, 0.5, 1.0, 7.0, 1e300}) {
    const auto shrink = engine::shrink_of_eps<double>(metric, eps);
    ASSERT_GT(shrink, 0.0);
    std::mt19937_64 random(62);
    for (int i = 0; i < 2000; ++i) {
      const double missed = 4 * std::exp2(-static_cast<double>(random() % 6000) / 200);
      double kth = missed / shrink;
      while (!(missed > kth * shrink)) kth = std::nextafter(kth, 0.0);
      if (!std::isfinite(kth)) continue;
      const long double seen = core::reported_distance(metric, false, kth);
      const long double truth = core::reported_distance(metric, false, missed);
      ASSERT_LE(seen, truth * (1 + static_cast<long double>(eps))) << "eps " << eps << " reduced " << missed;
    }
  }
  EXPECT_NEAR(engine::shrink_of_eps<double>(metric, 1), 0.5,
              1e-14);  // half of pi, whose reduced distance is 4, has the reduced distance 2
}

TEST(ShrinkOfEps, TakesThePowerOfTheReduced) {
  EXPECT_EQ(engine::shrink_of_eps<double>(Metric::l2(), 0), 1.0);
  EXPECT_NEAR(engine::shrink_of_eps<double>(Metric::l2(), 1), 0.25, 1e-14);
  EXPECT_NEAR(engine::shrink_of_eps<double>(Metric::l1(), 1), 0.5, 1e-14);
  EXPECT_NEAR(engine::shrink_of_eps<double>(Metric::cosine(), 1), 0.5, 1e-14);
  EXPECT_NEAR(engine::shrink_of_eps<double>(Metric::lp(3), 1), 0.125, 1e-12);
  EXPECT_GT(engine::shrink_of_eps<double>(Metric::l2(), 1), 0.25);
  EXPECT_GT(engine::shrink_of_eps<float>(Metric::l2(), 1e300), 0.0f);
}

}  // namespace
}  // namespace kith::test
