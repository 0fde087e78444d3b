// Batches whose queries lie apart, or far from the points, beside others that do not: every engine gives the oracle's
// answer, byte for byte, whatever it puts together.
#include "support/engines.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace kith::test {
namespace {

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

enum class Spread { uniform, line, clusters, offset, duplicates, count_of_spreads };

/// A coordinate of a point; all of a row share `row`.
double coordinate(Spread spread, double row, std::uint32_t d, std::mt19937_64& random) {
  const double x = unit(random);
  switch (spread) {
    case Spread::line:
      return row * (d + 1);
    case Spread::clusters:
      return std::floor(7 * row) * (d == 0 ? 0.11 : 0.3 * (d + 1)) + 1e-3 * x;
    case Spread::offset:
      return 1e6 + x;
    case Spread::duplicates:
      return std::floor(3 * x) / 3;
    default:
      return x;
  }
}

/// Rows of one shape; the queries among them lie inside, in a cube ten or a thousand times as wide, or on a point.
PointSet drawn(Spread spread, DType dtype, std::uint64_t rows, std::uint32_t dims, const PointSet* near,
               std::mt19937_64& random) {
  PointSet set(dtype, rows, dims);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const double row = unit(random);
    const std::uint64_t kind = near == nullptr ? 0 : random() % 4, like = near == nullptr ? 0 : random() % near->rows();
    for (std::uint32_t d = 0; d < dims; ++d) {
      double x = coordinate(near == nullptr ? spread : Spread::uniform, row, d, random);
      if (near != nullptr) {
        const double place = near->view().at(like, d);
        x = kind == 0 ? place : place + (kind == 1 ? 0.1 : kind == 2 ? 10.0 : 1000.0) * (x - 0.5);
      }
      if (dtype == DType::f32) {
        set.values<float>()[i * dims + d] = static_cast<float>(x);
      } else {
        set.values<double>()[i * dims + d] = x;
      }
    }
  }
  return set;
}

class SpreadQueries : public testing::TestWithParam<EngineOnDevice> {
 protected:
  /// All searches of one index against the oracle.
  static void expect_oracle(const PointSet& points, const PointSet& queries, const BuildOptions& build,
                            const SearchOptions& search, std::uint32_t k) {
    const Index index = Index::build(points.view(), build);
    const PointView view = queries.view();
    const Request request{.points = points.view(),
                          .queries = &view,
                          .metric = build.metric,
                          .allowed = bits_of(search.allowed, points.rows()),
                          .index_below = {search.index_below.begin(), search.index_below.end()},
                          .period = build.period};
    const Neighbors nearest = oracle_knn(request, k);
    expect_same(nearest, index.knn(view, k, search));
    // The radius that the first and the last query just reach: of a far query it takes in all of the others' points.
    for (const std::uint64_t q : {std::uint64_t{0}, queries.rows() - 1}) {
      const double radius = std::isfinite(nearest.distance(q, k - 1)) ? nearest.distance(q, k - 1) : 0.1;
      expect_same(oracle_radius(request, radius), index.radius(view, radius, search));
      EXPECT_EQ(oracle_count(request, radius), index.count(view, radius, search));
    }
  }
};

TEST_P(SpreadQueries, EqualTheOracle) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const auto spread = static_cast<Spread>(seed % static_cast<std::uint64_t>(Spread::count_of_spreads));
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const auto dims = static_cast<std::uint32_t>(2 + random() % 4);
    const PointSet points = drawn(spread, dtype, 200 + random() % 600, dims, nullptr, random);
    const PointSet queries = drawn(spread, dtype, 1 + random() % 150, dims, &points, random);
    const Metric metrics[] = {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(3), Metric::canberra()};
    BuildOptions build{.engine = GetParam().engine, .device = GetParam().device, .metric = metrics[random() % 5]};
    if (!knows_metric(GetParam(), build.metric)) continue;
    build.leaf_size = static_cast<std::uint32_t>(1 + random() % 24);
    if (random() % 3 == 0 && knows_periods(GetParam()) && build.metric.info().wraps) build.period.assign(dims, 2e6);
    std::vector<std::uint64_t> allowed((points.rows() + 63) / 64);
    for (std::uint64_t& word : allowed) word = random() & random();
    std::vector<std::uint32_t> below(queries.rows());
    for (std::uint32_t& end : below) end = static_cast<std::uint32_t>(random() % (points.rows() + 2));
    SearchOptions search{.threads = static_cast<int>(1 + random() % 2)};
    const std::uint64_t filter = random() % 4;
    if (filter == 1) search.allowed = allowed;
    if (filter == 2) search.index_below = below;
    const std::uint64_t k_kind = random() % 3;
    const auto k = static_cast<std::uint32_t>(k_kind == 0 ? 1 : k_kind == 1 ? 8 : 40);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", metric " << build.metric.name() << ", " << dims
                                    << " dims");
    expect_oracle(points, queries, build, search, k);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Available, SpreadQueries, testing::ValuesIn(available_engines()));

}  // namespace
}  // namespace kith::test
