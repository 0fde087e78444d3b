// Searches among points: one digest for every engine, device and number of threads.
#include "golden/golden_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace kith::test {
namespace {

const std::vector<std::uint32_t> kDims = {1, 2, 3, 5, 8, 16, 33, 100};
const std::vector<std::uint32_t> kFewDims = {2, 3, 7};
const std::vector<Metric> kMetrics = {Metric::l2(),     Metric::l1(),      Metric::linf(),
                                      Metric::cosine(), Metric::angular(), Metric::inner_product()};
const std::vector<Metric> kDistances = {Metric::l2(), Metric::l1(), Metric::linf(), Metric::cosine(),
                                        Metric::angular()};

/// Exactly the distance of some pair, so that the last bit decides who is within it.
double radius_for(const GoldenSearch& c) {
  const PointSet points = c.points(), queries = c.queries();
  const Index index = Index::build(points.view(), {.engine = Engine::brute_force, .metric = c.metric, .threads = 1});
  return index.knn(queries.view().slice(0, 1), 12, {.threads = 1}).distance(0, 11);
}

TEST(GoldenSearches, Knn) {
  GoldenSection golden("knn");
  std::vector<GoldenSearch> cases = golden_searches(kDims, kMetrics, {1, 3, 8, 20, 70, 400});
  for (const Metric metric : kMetrics) {  // the most usual ones in any case
    for (const DType dtype : {DType::f32, DType::f64}) cases.push_back({.dtype = dtype, .metric = metric, .k = 10});
  }
  cases.push_back({.rows = 0, .k = 3});
  cases.push_back({.rows = 1, .k = 3});
  cases.push_back({.rows = 3000, .query_rows = 300, .dims = 2, .k = 5});
  cases.push_back({.rows = 2000, .query_rows = 200, .dims = 24, .k = 16});
  for (const GoldenSearch& c : cases) {
    const PointSet points = c.points(), queries = c.queries();
    check_every_engine(golden, c.name(), points.view(), {.metric = c.metric}, [&](const Index& index, int threads) {
      return digest_of(index.knn(queries.view(), c.k, {.threads = threads}));
    });
  }
}

TEST(GoldenSearches, SquaredDistances) {
  GoldenSection golden("squared");
  for (const GoldenSearch& c : golden_searches({3}, {Metric::l2()}, {6})) {
    const PointSet points = c.points(), queries = c.queries();
    check_every_engine(golden, c.name(), points.view(), {.metric = c.metric}, [&](const Index& index, int threads) {
      return digest_of(index.knn(queries.view(), c.k, {.squared = true, .threads = threads}));
    });
  }
}

TEST(GoldenSearches, RadiusAndCounts) {
  GoldenSection golden("radius");
  for (const GoldenSearch& c : golden_searches(kFewDims, kDistances, {7})) {
    const PointSet points = c.points(), queries = c.queries();
    const double radius = radius_for(c);
    std::vector<double> radii;  // one for each query
    for (std::uint64_t q = 0; q < c.query_rows; ++q) radii.push_back(radius * static_cast<double>(q % 5) / 4);
    check_every_engine(golden, c.name(), points.view(), {.metric = c.metric}, [&](const Index& index, int threads) {
      const SearchOptions options = {.threads = threads};
      const SearchOptions capped = {.max_neighbors = c.k, .threads = threads};
      return digest_of(radius, index.radius(queries.view(), radius, options),
                       index.radius(queries.view(), radius, capped), index.radius(queries.view(), radii, options),
                       index.count(queries.view(), radius, options), index.count(queries.view(), radii, options));
    });
  }
}

TEST(GoldenSearches, PointsAmongThemselves) {
  GoldenSection golden("self");
  for (const GoldenSearch& c : golden_searches({2, 3, 12}, kDistances, {4, 9})) {
    const PointSet points = c.points();
    const double radius = radius_for(c);
    check_every_engine(golden, c.name(), points.view(), {.metric = c.metric}, [&](const Index& index, int threads) {
      Digest digest;
      for (const bool exclude : {false, true}) {
        for (const bool earlier : {false, true}) {
          const SearchOptions options = {.exclude_self = exclude, .earlier_only = earlier, .threads = threads};
          digest.add(index.knn_self(c.k, options));
          digest.add(index.radius_self(radius, options));
          digest.add(index.count_self(radius, options));
        }
      }
      return digest.text();
    });
  }
}

TEST(GoldenSearches, Filters) {
  GoldenSection golden("filters");
  for (const GoldenSearch& c : golden_searches({2, 3, 20}, kDistances, {5, 12})) {
    const PointSet points = c.points(), queries = c.queries();
    std::vector<std::uint64_t> allowed((c.rows + 63) / 64);
    for (std::size_t i = 0; i < allowed.size(); ++i) allowed[i] = golden_word(4, i);
    if (c.rows % 64 != 0) allowed.back() &= (std::uint64_t{1} << c.rows % 64) - 1;
    std::vector<std::uint32_t> below;
    for (std::uint64_t q = 0; q < c.query_rows; ++q) {
      below.push_back(static_cast<std::uint32_t>(golden_word(5, q) % (c.rows + 1)));
    }
    const double farthest = radius_for(c);
    check_every_engine(golden, c.name(), points.view(), {.metric = c.metric}, [&](const Index& index, int threads) {
      return digest_of(
          index.knn(queries.view(), c.k, {.allowed = allowed, .threads = threads}),
          index.knn(queries.view(), c.k, {.index_below = below, .threads = threads}),
          index.knn(queries.view(), c.k, {.max_distance = farthest, .threads = threads}),
          index.knn(queries.view(), c.k,
                    {.max_distance = farthest, .allowed = allowed, .index_below = below, .threads = threads}),
          index.radius(queries.view(), farthest, {.allowed = allowed, .index_below = below, .threads = threads}));
    });
  }
}

TEST(GoldenSearches, PeriodicAxes) {
  GoldenSection golden("periodic");
  for (const GoldenShape shape : {GoldenShape::uniform, GoldenShape::grid, GoldenShape::clusters}) {
    for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf()}) {
      for (const DType dtype : {DType::f32, DType::f64}) {
        const GoldenSearch c = {.shape = shape, .dims = 3, .dtype = dtype, .metric = metric, .k = 6};
        const PointSet points = c.points();
        PointSet queries = golden_points(GoldenShape::spread, dtype, 40, 3, 6);  // most lie outside the box
        const std::vector<double> period = {16, 0, 12.3};
        check_every_engine(golden, c.name(), points.view(), {.metric = metric, .period = period},
                           [&](const Index& index, int threads) {
                             const SearchOptions options = {.threads = threads};
                             return digest_of(index.knn(queries.view(), c.k, options), index.knn_self(c.k, options),
                                              index.radius_self(0.75, options), index.count_self(0.75, options));
                           });
      }
    }
  }
}

/// kNN and radius searches of queries and of the points themselves.
void check_four_searches(GoldenSection& golden, const GoldenSearch& c) {
  const PointSet points = c.points(), queries = c.queries();
  const double radius = radius_for(c);
  check_every_engine(golden, c.name(), points.view(), {.metric = c.metric}, [&](const Index& index, int threads) {
    const SearchOptions options = {.threads = threads};
    return digest_of(radius, index.knn(queries.view(), c.k, options), index.knn_self(c.k, options),
                     index.radius(queries.view(), radius, options), index.count_self(radius, options));
  });
}

TEST(GoldenSearches, Lp) {
  GoldenSection golden("lp");
  for (const double p : {1.25, 1.5, 2.7, 3.0, 10.0, 77.7}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      for (const std::uint32_t dims : {2u, 5u, 20u}) {
        const GoldenSearch c = {.dims = dims, .dtype = dtype, .metric = Metric::lp(p), .k = 9};
        check_four_searches(golden, c);
        const PointSet points = c.points(), queries = c.queries();
        if (dims != 5) continue;
        check_every_engine(golden, c.name() + "_periodic", points.view(),
                           {.metric = c.metric, .period = {16, 0, 12.3, 0, 15}}, [&](const Index& index, int threads) {
                             const SearchOptions options = {.threads = threads};
                             return digest_of(index.knn(queries.view(), c.k, options), index.knn_self(c.k, options));
                           });
      }
    }
  }
}

TEST(GoldenSearches, Canberra) {
  GoldenSection golden("canberra");
  for (const GoldenShape shape : kGoldenShapes) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const GoldenSearch c = {.shape = shape,
                              .dims = shape == GoldenShape::uniform ? 20u : 3u,
                              .dtype = dtype,
                              .metric = Metric::canberra(),
                              .k = 9};
      check_four_searches(golden, c);
    }
  }
}

TEST(GoldenSearches, MetricsThatPrepareRows) {
  GoldenSection golden("prepared");
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto check = [&](const std::string& name, Metric metric, std::uint32_t dims, std::vector<double> params) {
      const GoldenSearch c = {.dims = dims, .dtype = dtype, .metric = metric, .k = 9};
      const PointSet points = c.points(), queries = c.queries();
      check_every_engine(golden, c.name() + name, points.view(), {.metric = metric, .metric_params = params},
                         [&](const Index& index, int threads) {
                           const SearchOptions options = {.threads = threads};
                           const Neighbors found = index.knn(queries.view(), c.k, options);
                           const double radius = found.distance(0, c.k - 1);
                           return digest_of(found, index.knn_self(c.k, options), index.metric_params(),
                                            index.radius(queries.view(), radius, options));
                         });
    };
    for (const char* unit : {"haversine", "haversine:degrees", "haversine:metres", "haversine:radians-metres"}) {
      check("", Metric::parse(unit), 2, {});
    }
    for (const Metric metric : {Metric::seuclidean(), Metric::mahalanobis(), Metric::braycurtis()}) {
      check("", metric, 5, {});
    }
    check("_given", Metric::seuclidean(), 2, {0.5, 3});
    check("_given", Metric::mahalanobis(), 2, {2, 0.5, 0.5, 1});
    for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::linf(), Metric::lp(3), Metric::lp(2.7)}) {
      check("_weighted", metric, 3, {0.3, 0, 2});
    }
  }
}

TEST(GoldenSearches, Boxes) {
  GoldenSection golden("boxes");
  for (const GoldenSearch& c : golden_searches({1, 2, 3, 9}, {Metric::l2()}, {1})) {
    const PointSet points = c.points(), ends = c.queries();
    PointSet lower = ends.clone(), upper = ends.clone();
    const auto spread = [&]<typename T>(T) {  // from points of other boxes, so that ends are coordinates
      const std::span<T> low = lower.values<T>(), high = upper.values<T>();
      for (std::size_t i = 0; i < low.size(); ++i) high[i] = std::max(low[i], ends.values<T>()[(i + 5) % low.size()]);
    };
    c.dtype == DType::f32 ? spread(float{}) : spread(double{});
    check_every_engine(golden, c.name(), points.view(), {}, [&](const Index& index, int threads) {
      const SearchOptions options = {.threads = threads};
      return digest_of(index.box(lower.view(), upper.view(), options),
                       index.box_count(lower.view(), upper.view(), options));
    });
  }
}

TEST(GoldenSearches, ApproximateOnes) {
  GoldenSection golden("approximate");
  for (const GoldenSearch& c : golden_searches({3, 6, 9}, kDistances, {4, 40})) {
    const PointSet points = c.points(), queries = c.queries();
    for (const EngineOnDevice& where : available_engines()) {
      if (where.engine != Engine::kd_tree) continue;
      for (const int threads : {1, 2}) {
        const Index index = Index::build(
            points.view(), {.engine = where.engine, .device = where.device, .metric = c.metric, .leaf_size = 8});
        const std::string digest = digest_of(index.knn(queries.view(), c.k, {.eps = 1.5, .threads = threads}),
                                             index.knn(queries.view(), c.k, {.max_leaves = 3, .threads = threads}),
                                             index.knn_self(c.k, {.eps = 2, .max_leaves = 9, .threads = threads}));
        golden.check(c.name(), digest, where.device.name());
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
