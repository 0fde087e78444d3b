// Shards give the oracle's answer, byte for byte, however many they are and however the points were dealt out.
#include "shards/byte_transport.hpp"
#include "shards/dealt_points.hpp"
#include "shards/widened.hpp"
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"

#include <kith/shards/sharded_index.hpp>

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace kith::test {
namespace {

using shards::CountSearch;
using shards::KnnSearch;
using shards::RadiusSearch;
using shards::ShardedIndex;
using shards::ShardSearchOptions;

/// A random search, and how its points are cut.
struct ShardedCase {
  SearchCase search;
  DealtPoints dealt;
  std::uint32_t shards = 1;
  BuildOptions build;
  std::vector<std::uint64_t> index_below;
  ShardSearchOptions options;

  ShardedCase(SearchCase random_search, std::uint64_t seed)
      : ShardedCase(std::move(random_search), std::mt19937_64(seed)) {}

  ShardedIndex index() const { return ShardedIndex::build(dealt.parts(), {.shards = shards, .build = build}); }
  ByteTransport transport() const { return {dealt.parts(), shards::CutRules::of(shards, build), build}; }

 private:
  ShardedCase(SearchCase random_search, std::mt19937_64 random)
      : search(std::move(random_search)),
        dealt(search.points.view(), std::array{1, 2, 3, 7}[random() % 4], random_way(random), random) {
    constexpr std::uint32_t kShards[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 32, 64, 100};
    shards = kShards[random() % std::size(kShards)];
    Engine engine = Engine::automatic;
    if (random() % 3 == 0) engine = search.metric.info().has_kd_tree ? Engine::kd_tree : Engine::brute_force;
    build = search.build_options(engine, Device::cpu());
    const SearchOptions& from = search.options;
    options.squared = from.squared;
    options.exclude_self = from.exclude_self;
    options.allowed = from.allowed;
    options.earlier_only = from.earlier_only;
    options.threads = from.threads;
    index_below.assign(from.index_below.begin(), from.index_below.end());
    options.index_below = index_below;
    options.shards_per_round = static_cast<std::uint32_t>(std::array{0, 0, 1, 2}[random() % 4]);
  }
};

#define KITH_TRACE(seed, c)                                                                      \
  SCOPED_TRACE(testing::Message() << "replay with random_case(" << (seed) << "), " << (c).shards \
                                  << " shards: " << (c).search.text)

TEST(ShardedIndex, KnnEqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    ShardedCase c(random_case(seed), seed);
    KITH_TRACE(seed, c);
    c.options.max_distance = c.search.options.max_distance = c.search.max_distance;
    const ShardedIndex index = c.index();
    expect_same(widened(oracle_knn(c.search.request(), c.search.k)),
                c.search.is_self ? index.knn_self(c.search.k, c.options)
                                 : index.knn(c.search.queries.view(), c.search.k, c.options));
    if (HasFailure()) return;
  }
}

TEST(ShardedIndex, InnerProductsEqualTheOracleOnRandomCases) {
  for (std::uint64_t seed = 5000; seed < 5100; ++seed) {
    const ShardedCase c(inner_product_case(seed), seed);
    KITH_TRACE(seed, c);
    const ShardedIndex index = c.index();
    expect_same(widened(oracle_knn(c.search.request(), c.search.k)),
                c.search.is_self ? index.knn_self(c.search.k, c.options)
                                 : index.knn(c.search.queries.view(), c.search.k, c.options));
    if (HasFailure()) return;
  }
}

TEST(ShardedIndex, RadiusEqualsTheOracleOnRandomCases) {
  for (std::uint64_t seed = 10000; seed < 10250; ++seed) {
    ShardedCase c(random_case(seed), seed);
    KITH_TRACE(seed, c);
    c.options.max_neighbors = c.search.most;
    const ShardedIndex index = c.index();
    expect_same(widened(oracle_radius(c.search.request(), c.search.radius, c.search.most)),
                c.search.is_self ? index.radius_self(c.search.radius, c.options)
                                 : index.radius(c.search.queries.view(), c.search.radius, c.options));
    if (HasFailure()) return;
  }
}

TEST(ShardedIndex, CountEqualsTheOracleOnRandomCasesWithRadiiOfTheirOwn) {
  for (std::uint64_t seed = 20000; seed < 20200; ++seed) {
    const ShardedCase c(random_case(seed), seed);
    KITH_TRACE(seed, c);
    const std::uint64_t queries = c.search.is_self ? c.search.points.rows() : c.search.queries.rows();
    std::vector<double> radii(queries);
    for (std::uint64_t q = 0; q < queries; ++q) radii[q] = c.search.radius * static_cast<double>(q % 4) / 2;
    Request request = c.search.request();
    request.radii = radii;
    const ShardedIndex index = c.index();
    EXPECT_EQ(widened(oracle_count(request, 0)), c.search.is_self
                                                     ? index.count_self(radii, c.options)
                                                     : index.count(c.search.queries.view(), radii, c.options));
    expect_same(widened(oracle_radius(request, 0)), c.search.is_self
                                                        ? index.radius_self(radii, c.options)
                                                        : index.radius(c.search.queries.view(), radii, c.options));
    if (HasFailure()) return;
  }
}

TEST(ShardedIndex, BoxesEqualTheOracle) {
  for (std::uint64_t seed = 30000; seed < 30200; ++seed) {
    const ShardedCase c(random_case(seed), seed);
    const ShardedIndex index = c.index();
    if (!c.search.period.empty() || !index.shard(0).index().holds_points()) continue;
    KITH_TRACE(seed, c);
    // Corners are points and queries: the faces of boxes go through points.
    const std::uint64_t boxes = std::min(c.search.queries.rows(), c.search.points.rows());
    const PointView lower = c.search.points.view().slice(0, boxes), upper = c.search.queries.view().slice(0, boxes);
    ShardSearchOptions options{.allowed = c.options.allowed};
    if (!c.options.index_below.empty()) options.index_below = c.options.index_below.first(boxes);
    Request request = c.search.request();
    request.exclude_self = request.earlier_only = false;
    if (!request.index_below.empty()) request.index_below.resize(boxes);
    const WidePointLists expected = widened(oracle_box(request, lower, upper));
    expect_same(expected, index.box(lower, upper, options));
    const std::vector<std::uint64_t> counts = index.box_count(lower, upper, options);
    for (std::uint64_t b = 0; b < boxes; ++b) EXPECT_EQ(counts[b], expected.count(b)) << "box " << b;
    if (HasFailure()) return;
  }
}

/// The same by messages that went through bytes, with queries that are asked by several participants.
TEST(ShardMessages, FindWhatTheOracleFindsOnRandomCases) {
  for (std::uint64_t seed = 40000; seed < 40200; ++seed) {
    const ShardedCase c(random_case(seed), seed);
    KITH_TRACE(seed, c);
    const ByteTransport transport = c.transport();
    const Neighbors nearest = oracle_knn(c.search.request(), c.search.k);
    const NeighborLists within = oracle_radius(c.search.request(), c.search.radius);
    const auto compare = [&](const shards::SearchQueries& queries, const ShardSearchOptions& options,
                             const auto& row_of) {
      KnnSearch knn(transport.map(), queries, c.search.k, options);
      transport.run(knn, options.allowed);
      const WideNeighbors found = knn.result();
      RadiusSearch radius(transport.map(), queries, c.search.radius, options);
      EXPECT_LE(transport.run(radius, options.allowed), 1);
      const WideNeighborLists lists = radius.result();
      CountSearch count(transport.map(), queries, c.search.radius, options);
      EXPECT_LE(transport.run(count, options.allowed), 1);
      const std::vector<std::uint64_t> counts = count.result();
      for (std::uint64_t q = 0; q < found.queries(); ++q) {
        const std::uint64_t row = row_of(q);
        for (std::uint32_t j = 0; j < c.search.k; ++j) {
          ASSERT_EQ(nearest.index(row, j), found.index(q, j)) << "query " << row << ", rank " << j;
          ASSERT_EQ(nearest.distance(row, j), found.distance(q, j)) << "query " << row << ", rank " << j;
        }
        ASSERT_EQ(within.count(row), counts[q]);
        ASSERT_EQ(within.count(row), lists.count(q));
        for (std::uint64_t j = 0; j < lists.count(q); ++j) {
          ASSERT_EQ(within.index(row, j), lists.index(q, j)) << "query " << row << ", rank " << j;
          ASSERT_EQ(within.distance(row, j), lists.distance(q, j)) << "query " << row << ", rank " << j;
        }
      }
    };
    if (c.search.is_self) {
      for (std::uint32_t s = 0; s < c.shards; ++s) {
        const shards::Shard& shard = transport.shards()[s];
        compare({shard, s}, c.options, [&](std::uint64_t q) { return shard.numbers()[q]; });
      }
    } else {
      const std::uint64_t rows = c.search.queries.rows(), half = rows / 2;
      for (const bool is_second : {false, true}) {
        const std::uint64_t first = is_second ? half : 0, count = is_second ? rows - half : half;
        ShardSearchOptions options = c.options;
        if (!options.index_below.empty()) options.index_below = c.options.index_below.subspan(first, count);
        compare(c.search.queries.view().slice(first, count), options, [&](std::uint64_t q) { return first + q; });
      }
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace kith::test
