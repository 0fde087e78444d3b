// Every engine on every device gives the oracle's answer, byte for byte.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/sanitized.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

namespace kith::test {
namespace {

class EveryEngine : public testing::TestWithParam<EngineOnDevice> {
 protected:
  static Index build(const SearchCase& c) {
    return Index::build(c.points.view(), c.build_options(GetParam().engine, GetParam().device));
  }
  /// False for periodic axes and metrics that the engine does not have.
  bool runs(const SearchCase& c) const {
    return (c.period.empty() || knows_periods_) && knows_metric(GetParam(), c.metric);
  }

  bool knows_periods_ = knows_periods(GetParam());
};

TEST_P(EveryEngine, KnnEqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 2500; ++seed) {
    SearchCase c = random_case(seed);
    if (!runs(c)) continue;
    c.options.max_distance = c.max_distance;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const Index index = build(c);
    expect_same(oracle_knn(c.request(), c.k),
                c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
    if (HasFailure()) return;
  }
}

TEST_P(EveryEngine, RadiusEqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 10000; seed < 12000; ++seed) {
    SearchCase c = random_case(seed);
    if (!runs(c)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    c.options.max_neighbors = c.most;
    const Index index = build(c);
    expect_same(
        oracle_radius(c.request(), c.radius, c.most),
        c.is_self ? index.radius_self(c.radius, c.options) : index.radius(c.queries.view(), c.radius, c.options));
    if (HasFailure()) return;
  }
}

TEST_P(EveryEngine, CountEqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 20000; seed < 21500; ++seed) {
    const SearchCase c = random_case(seed);
    if (!runs(c)) continue;
    SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << "): " << c.text);
    const Index index = build(c);
    EXPECT_EQ(oracle_count(c.request(), c.radius),
              c.is_self ? index.count_self(c.radius, c.options) : index.count(c.queries.view(), c.radius, c.options));
    if (HasFailure()) return;
  }
}

TEST_P(EveryEngine, ManyDimsEqualTheOracle) {
  std::mt19937_64 random(7);
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint32_t dims : {784u, 4096u}) {
      for (const NastyShape shape : {NastyShape::uniform, NastyShape::huge_offset, NastyShape::clusters}) {
        const PointSet points = nasty_points(shape, dtype, 70, dims, random);
        const PointSet queries = nasty_points(shape, dtype, 9, dims, random);
        const PointView view = queries.view();
        const Index index = Index::build(points.view(), {.engine = GetParam().engine, .device = GetParam().device});
        expect_same(oracle_knn({points.view(), &view}, 12), index.knn(view, 12));
      }
    }
  }
}

/// Enough queries and points for several blocks, ranges and rests of the filter.
TEST_P(EveryEngine, ThreadsDoNotChangeTheAnswer) {
  std::mt19937_64 random(11);
  const std::uint64_t rows = KITH_TEST_SANITIZED ? 1500 : 5000;  // lists are long
  for (const NastyShape shape :
       {NastyShape::uniform, NastyShape::grid, NastyShape::all_equal, NastyShape::huge_offset}) {
    const PointSet points = nasty_points(shape, DType::f32, rows, 3, random);
    const Index index = Index::build(points.view(), {.engine = GetParam().engine, .device = GetParam().device});
    for (const std::uint64_t queries : {1ull, 3ull, 100ull, 700ull}) {
      const PointView some = points.view().slice(0, queries);
      const Neighbors alone = index.knn(some, 70, {.threads = 1});
      const NeighborLists lists = index.radius(some, 0.5, {.threads = 1});
      const std::vector<std::uint32_t> counts = index.count(some, 0.5, {.threads = 1});
      for (const int threads : {2, 5, 64}) {
        expect_same(alone, index.knn(some, 70, {.threads = threads}));
        expect_same(lists, index.radius(some, 0.5, {.threads = threads}));
        EXPECT_EQ(counts, index.count(some, 0.5, {.threads = threads}));
      }
    }
    const PointView few = points.view().slice(rows - 1000, 20);
    expect_same(oracle_knn({points.view(), &few}, 70), index.knn(few, 70, {.threads = 2}));
    expect_same(oracle_radius({points.view(), &few}, 0.5), index.radius(few, 0.5, {.threads = 2}));
  }
}

TEST_P(EveryEngine, RowsMayLieApart) {
  std::mt19937_64 random(3);
  const PointSet wide = nasty_points(NastyShape::uniform, DType::f64, 300, 7, random);
  PointSet tight(DType::f64, 300, 4);
  for (std::uint64_t i = 0; i < 300; ++i) {
    std::copy_n(wide.view().row<double>(i), 4, tight.values<double>().data() + i * 4);
  }
  const PointView apart(wide.values<double>().data(), DType::f64, 300, 4, 7);
  const BuildOptions options{.engine = GetParam().engine, .device = GetParam().device};
  expect_same(Index::build(tight.view(), options).knn(tight.view(), 5), Index::build(apart, options).knn(apart, 5));
}

INSTANTIATE_TEST_SUITE_P(Available, EveryEngine, testing::ValuesIn(available_engines()));

}  // namespace
}  // namespace kith::test
