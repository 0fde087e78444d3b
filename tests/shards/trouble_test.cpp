// Data and options that an index refuses, shards refuse in the same words; and shapes that break cuts.
#include "shards/byte_transport.hpp"
#include "shards/dealt_points.hpp"
#include "shards/widened.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include <kith/shards/sharded_index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace kith::test {
namespace {

using shards::ShardedIndex;
using shards::ShardSearchOptions;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What an error says; nothing if there is none.
std::string said_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// What `Index` and shards of points dealt in turn say.
void expect_same_error(PointView points, const BuildOptions& options) {
  std::mt19937_64 random(1);
  const DealtPoints dealt(points, 3, DealtPoints::Way::in_turn, random);
  const std::string expected = said_by([&] { Index::build(points, options); });
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(expected, said_by([&] { ShardedIndex::build(points, {.shards = 4, .build = options}); }));
  EXPECT_EQ(expected, said_by([&] { ShardedIndex::build(dealt.parts(), {.shards = 4, .build = options}); }));
}

TEST(Trouble, BadPointsAreNamedByTheirNumbers) {
  std::vector<float> values(300, 1.0f);
  values[201] = kInfinity;
  values[100] = kNaN;
  expect_same_error(PointView(values, 3), {});
  values[201] = 1;
  expect_same_error(PointView(values, 3), {});
  values[100] = 0;
  values[99] = values[101] = 0;
  expect_same_error(PointView(values, 3), {.metric = Metric::cosine()});
  values[200] = 7;
  expect_same_error(PointView(values, 3), {.period = {3, 3, 3}});
  expect_same_error(PointView(values, 3), {.period = {3, 3}});
  expect_same_error(PointView(values, 3), {.metric = Metric::canberra(), .period = {8, 8, 8}});
  expect_same_error(PointView(values, 2), {.metric_params = {1, -1}});
  values[3] = 500;
  expect_same_error(PointView(values, 2), {.metric = Metric::parse("haversine:degrees")});
}

TEST(Trouble, LeftOutPointsKeepTheirNumbers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    PointSet points = nasty_points(NastyShape::grid, DType::f32, 150, 2, random);
    std::vector<float> queries{1, 1, kNaN, 2, 0, 3};
    const std::uint64_t share = 1 + random() % 4;
    for (float& x : points.values<float>()) {
      if (random() % (5 * share) == 0) x = random() % 2 == 0 ? kNaN : kInfinity;
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BuildOptions build{.skip_nonfinite = true};
    const Index index = Index::build(points.view(), build);
    const DealtPoints dealt(points.view(), 4, random_way(random), random);
    const ShardedIndex sharded = ShardedIndex::build(dealt.parts(), {.shards = 6, .build = build});
    EXPECT_EQ(index.skipped(), sharded.skipped());
    const PointView asked(queries, 2);
    std::vector<std::uint64_t> allowed(3);
    for (std::uint64_t& word : allowed) word = random();
    for (const bool is_filtered : {false, true}) {
      const SearchOptions options{.allowed = is_filtered ? allowed : std::span<const std::uint64_t>(),
                                  .skip_nonfinite = true};
      const ShardSearchOptions same{.allowed = options.allowed, .skip_nonfinite = true};
      expect_same(widened(index.knn(asked, 9, options)), sharded.knn(asked, 9, same));
      expect_same(widened(index.radius(asked, 2.0, options)), sharded.radius(asked, 2.0, same));
      expect_same(widened(index.knn_self(7, options)), sharded.knn_self(7, same));
      expect_same(widened(index.radius_self(1.5, options)), sharded.radius_self(1.5, same));
      EXPECT_EQ(widened(index.count_self(1.5, options)), sharded.count_self(1.5, same));
      expect_same(widened(index.box(asked, asked, options)), sharded.box(asked, asked, same));
    }
    if (HasFailure()) return;
  }
}

TEST(Trouble, OptionsAreRefusedInTheWordsOfAnIndex) {
  std::mt19937_64 random(1);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 100, 3, random);
  const PointSet doubles = nasty_points(NastyShape::uniform, DType::f64, 10, 3, random);
  const PointSet flat = nasty_points(NastyShape::uniform, DType::f32, 10, 2, random);
  PointSet bad = points.clone();
  bad.values<float>()[4] = kNaN;
  const std::vector<std::uint64_t> words(5, 1), wide(5, 1);
  const std::vector<std::uint32_t> narrow(5, 1);
  const std::vector<double> radii{1, -1}, negative(100, -1);
  for (const Metric metric : {Metric::l2(), Metric::l1(), Metric::inner_product(), Metric::cosine()}) {
    const Index index = Index::build(points.view(), {.metric = metric});
    const ShardedIndex sharded = ShardedIndex::build(points.view(), {.shards = 3, .build = {.metric = metric}});
    const auto expect = [&](const std::function<void()>& of_index, const std::function<void()>& of_shards) {
      EXPECT_EQ(said_by(of_index), said_by(of_shards)) << metric.name();
    };
    const PointView view = points.view();
    const auto expect_knn = [&](PointView queries, const SearchOptions& options, const ShardSearchOptions& same) {
      expect([&] { index.knn(queries, 3, options); }, [&] { sharded.knn(queries, 3, same); });
    };
    expect_knn(doubles.view(), {}, {});
    expect_knn(flat.view(), {}, {});
    expect_knn(bad.view(), {}, {});
    expect_knn(view, {.squared = true}, {.squared = true});
    expect_knn(view, {.exclude_self = true}, {.exclude_self = true});
    expect_knn(view, {.max_neighbors = 3}, {.max_neighbors = 3});
    expect_knn(view, {.max_distance = -1}, {.max_distance = -1});
    expect_knn(view, {.max_distance = 1}, {.max_distance = 1});
    expect_knn(view, {.allowed = words}, {.allowed = words});
    expect_knn(view, {.earlier_only = true}, {.earlier_only = true});
    expect_knn(view, {.index_below = narrow}, {.index_below = wide});
    expect_knn(view, {.threads = -1}, {.threads = -1});
    expect([&] { index.knn_self(3, {.index_below = narrow}); }, [&] { sharded.knn_self(3, {.index_below = wide}); });
    expect([&] { index.radius(view, -1.0); }, [&] { sharded.radius(view, -1.0); });
    expect([&] { index.radius(view, radii); }, [&] { sharded.radius(view, radii); });
    expect([&] { index.count_self(negative); }, [&] { sharded.count_self(negative); });
    expect([&] { index.count(view, 1.0, {.max_distance = 1}); },
           [&] { sharded.count(view, 1.0, {.max_distance = 1}); });
    expect([&] { index.box(view, flat.view()); }, [&] { sharded.box(view, flat.view()); });
    expect([&] { index.box(bad.view(), view); }, [&] { sharded.box(bad.view(), view); });
    expect([&] { index.box(view, view, {.squared = true}); }, [&] { sharded.box(view, view, {.squared = true}); });
  }
}

/// Squares that differ may have one root: lists are merged by what searches compare.
TEST(Trouble, DistancesThatLookEqualAreNoTies) {
  for (const Metric metric : {Metric::l2(), Metric::lp(3), Metric::lp(2.5), Metric::angular(), Metric::cosine()}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      std::mt19937_64 random(seed);
      // Next to each other, in rows that later shards have the lower numbers of.
      PointSet points(DType::f32, 400, 2);
      float x = 1.0f + static_cast<float>(seed);
      for (std::uint64_t i = 0; i < 400; ++i) {
        x = std::nextafter(x, 100.0f);
        points.values<float>()[2 * (399 - i)] = x;
        points.values<float>()[2 * (399 - i) + 1] = static_cast<float>(random() % 3) * 1e-4f + 1e-3f;
      }
      const std::vector<float> origin{0.0625f, 0.25f};
      const PointView query(origin, 2);
      const ShardedIndex sharded = ShardedIndex::build(points.view(), {.shards = 7, .build = {.metric = metric}});
      for (const std::uint32_t k : {1u, 5u, 60u, 399u}) {
        SCOPED_TRACE(testing::Message() << metric.name() << ", seed " << seed << ", k " << k);
        expect_same(widened(oracle_knn({.points = points.view(), .queries = &query, .metric = metric}, k)),
                    sharded.knn(query, k));
      }
    }
  }
}

TEST(Trouble, FewPointsLeaveShardsEmpty) {
  std::mt19937_64 random(1);
  for (const std::uint64_t rows : {0u, 1u, 2u, 5u}) {
    const PointSet points = nasty_points(NastyShape::uniform, DType::f64, rows, 2, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f64, 3, 2, random);
    const Index index = Index::build(points.view());
    const ShardedIndex sharded = ShardedIndex::build(points.view(), {.shards = 64});
    expect_same(widened(index.knn(queries.view(), 4)), sharded.knn(queries.view(), 4));
    expect_same(widened(index.knn(queries.view(), 0)), sharded.knn(queries.view(), 0));
    expect_same(widened(index.knn_self(4)), sharded.knn_self(4));
    expect_same(widened(index.radius(queries.view(), 0.5)), sharded.radius(queries.view(), 0.5));
    expect_same(widened(index.radius_self(0.5)), sharded.radius_self(0.5));
    expect_same(widened(index.box(queries.view(), queries.view())), sharded.box(queries.view(), queries.view()));
  }
}

/// Numbers need not fit 32 bits: only their order counts, and that all are below the number of rows.
TEST(Trouble, NumbersMayBeWide) {
  std::mt19937_64 random(2);
  const PointSet points = nasty_points(NastyShape::grid, DType::f32, 500, 2, random);
  const std::uint64_t base = std::uint64_t{1} << 40;
  shards::NumberedPoints numbered{.points = points.view(), .first_number = base};
  const shards::CutRules rules{.shards = 8};
  shards::PointFacts facts = shards::PointFacts::of(numbered, rules);
  facts.rows += base;  // of other participants, who left all of theirs out
  shards::CutPlan plan(facts, rules);
  shards::PointCutter cutter(numbered, rules);
  while (!plan.is_done()) plan.take(cutter.counts(plan));
  std::vector<shards::Shard> all;
  std::vector<shards::ShardFacts> told;
  for (std::uint32_t s = 0; s < 8; ++s) {
    std::vector<shards::ShardPoints> parts;
    parts.push_back(cutter.points_of(plan, s));
    all.push_back(shards::Shard::build(std::move(parts), rules));
    told.push_back(all.back().facts());
  }
  const shards::ShardMap map(facts, rules, told);
  shards::KnnSearch search(map, points.view(), 6);
  for (auto requests = search.next(); !requests.empty(); requests = search.next()) {
    for (const auto& request : requests) search.take(all[request.shard].answer(request));
  }
  const WideNeighbors found = search.result();
  const Neighbors expected = Index::build(points.view()).knn(points.view(), 6);
  EXPECT_EQ(found.missing(), base + 500);
  for (std::uint64_t q = 0; q < 500; ++q) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      ASSERT_EQ(found.index(q, j), base + expected.index(q, j));
      ASSERT_EQ(found.distance(q, j), expected.distance(q, j));
    }
  }
}

TEST(Trouble, ACallbackCanStopASearch) {
  std::mt19937_64 random(5);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 30000, 3, random);
  const auto stop = [](const Progress&) { return false; };
  const ShardedIndex index = ShardedIndex::build(points.view(), {.shards = 3});
  EXPECT_THROW(index.knn_self(8, {.progress = stop}), Interrupted);
  EXPECT_THROW(ShardedIndex::build(points.view(), {.shards = 3, .build = {.progress = stop}}), Interrupted);
}

}  // namespace
}  // namespace kith::test
