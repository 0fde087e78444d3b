// What searches over shards send: rounds and messages are bounded, and boxes keep most queries at home.
#include "shards/byte_transport.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"

#include <kith/shards/sharded_index.hpp>

#include <gtest/gtest.h>

#include <random>

namespace kith::test {
namespace {

using shards::KnnSearch;
using shards::SearchTraffic;
using shards::ShardedIndex;

TEST(Traffic, NearestNeighboursTakeTwoRounds) {
  std::mt19937_64 random(1);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 20000, 3, random);
  const PointSet queries = nasty_points(NastyShape::uniform, DType::f32, 2000, 3, random);
  const ShardedIndex index = ShardedIndex::build(points.view(), {.shards = 8});
  SearchTraffic traffic, one_by_one;
  const WideNeighbors found = index.knn(queries.view(), 8, {.traffic = &traffic});
  EXPECT_EQ(traffic.rounds, 2u);
  EXPECT_LE(traffic.requests, 16u);
  EXPECT_GE(traffic.queries, 2000u);
  EXPECT_LE(traffic.queries, 3200u) << "a query should ask hardly more than its own shard";
  EXPECT_GE(traffic.bytes_out, traffic.queries * 12);
  EXPECT_GE(traffic.bytes_back, 2000u * 8 * 12);
  // Lists that are carried from shard to shard ask fewer, in more rounds.
  expect_same(found, index.knn(queries.view(), 8, {.shards_per_round = 1, .traffic = &one_by_one}));
  EXPECT_LE(one_by_one.queries, traffic.queries);
  EXPECT_LE(one_by_one.rounds, 8u);
  EXPECT_GE(one_by_one.rounds, 2u);
}

TEST(Traffic, PointsAskTheirOwnShardWithoutAMessage) {
  std::mt19937_64 random(2);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 20000, 3, random);
  const ShardedIndex index = ShardedIndex::build(points.view(), {.shards = 8});
  SearchTraffic traffic;
  index.knn_self(8, {.traffic = &traffic});
  EXPECT_LE(traffic.requests, 8u * 7);
  EXPECT_LE(traffic.queries, 12000u);
}

TEST(Traffic, AQueryInTheMiddleMayAskAllShards) {
  std::mt19937_64 random(3);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f64, 6400, 3, random);
  const ShardedIndex index = ShardedIndex::build(points.view(), {.shards = 64});
  const std::vector<double> middle{0.5, 0.5, 0.5};
  const PointView query(middle, 3);
  for (const std::uint32_t k : {1u, 700u, 6400u}) {
    SearchTraffic traffic;
    const WideNeighbors found = index.knn(query, k, {.traffic = &traffic});
    EXPECT_LE(traffic.queries, 64u);
    if (k > 600) {
      EXPECT_EQ(traffic.queries, 64u);
    }
    EXPECT_LE(traffic.rounds, 2u);
    EXPECT_LE(traffic.requests, 64u);
    EXPECT_NE(found.index(0, k - 1), found.missing());
  }
  SearchTraffic traffic;
  EXPECT_EQ(index.count(query, 10.0, {.traffic = &traffic}).front(), 6400u);
  EXPECT_EQ(traffic.rounds, 1u);
  EXPECT_EQ(traffic.queries, 64u);
}

/// A million duplicates in many shards: their smallest numbers say that only the first one matters.
TEST(Traffic, DuplicatesAskTheShardOfTheSmallestNumbers) {
  const std::vector<float> places(3 * 6400, 0.25f);
  const ShardedIndex index = ShardedIndex::build(PointView(places, 3), {.shards = 16});
  SearchTraffic traffic;
  const WideNeighbors found = index.knn(PointView(places, 3).slice(0, 100), 5, {.traffic = &traffic});
  EXPECT_EQ(traffic.queries, 100u);
  for (std::uint32_t j = 0; j < 5; ++j) EXPECT_EQ(found.index(99, j), j);
}

TEST(Traffic, ShardsWithoutAdmissiblePointsAreNotAsked) {
  std::mt19937_64 random(4);
  const PointSet points = nasty_points(NastyShape::sorted, DType::f32, 800, 1, random);
  const ShardedIndex index = ShardedIndex::build(points.view(), {.shards = 8});
  const std::vector<std::uint64_t> below(800, 100);  // points are in the order of their numbers: one shard
  SearchTraffic traffic;
  const WideNeighbors found = index.knn(points.view(), 3, {.index_below = below, .traffic = &traffic});
  EXPECT_EQ(traffic.queries, 800u);
  EXPECT_EQ(found.index(799, 0), 99u);
}

}  // namespace
}  // namespace kith::test
