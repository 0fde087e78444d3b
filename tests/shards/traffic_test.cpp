// What searches over shards send: rounds and messages are bounded, and boxes keep most queries at home.
#include "shards/byte_transport.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"

#include <kith/error.hpp>
#include <kith/shards/shard_plan.hpp>
#include <kith/shards/sharded_index.hpp>

#include <gtest/gtest.h>

#include <cmath>
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

TEST(Traffic, IsWhatThePlanSays) {
  struct Case {
    std::uint32_t dims, k, shards;
    DType dtype;
  };
  for (const Case& one : {Case{2, 8, 5, DType::f64}, Case{3, 8, 8, DType::f32}, Case{3, 20, 24, DType::f32}}) {
    std::mt19937_64 random(4);
    const PointSet points = nasty_points(NastyShape::uniform, one.dtype, 60000, one.dims, random);
    const PointSet queries = nasty_points(NastyShape::uniform, one.dtype, 6000, one.dims, random);
    const ShardedIndex index = ShardedIndex::build(points.view(), {.shards = one.shards});
    JobRequest job{.points = points.rows(), .dims = one.dims, .dtype = one.dtype, .k = one.k};
    SearchTraffic own, other;
    index.knn_self(one.k, {.traffic = &own});
    index.knn(queries.view(), one.k, {.traffic = &other});
    const shards::ShardPlan of_own = shards::plan_shards(job, one.shards);
    const auto near = [](std::uint64_t sent, double planned) {
      return testing::AssertionResult(std::abs(static_cast<double>(sent) / planned - 1) < 0.2)
             << sent << " against " << planned << " as planned";
    };
    EXPECT_TRUE(near(own.queries, (of_own.asked - 1) * static_cast<double>(points.rows())));
    EXPECT_TRUE(near(own.bytes_out, static_cast<double>(of_own.query_bytes)));
    EXPECT_TRUE(near(own.bytes_back, static_cast<double>(of_own.answer_bytes)));
    EXPECT_LE(own.requests * 2, of_own.messages);
    job.queries = queries.rows();
    const shards::ShardPlan of_other = shards::plan_shards(job, one.shards);
    EXPECT_TRUE(near(other.queries, of_other.asked * static_cast<double>(queries.rows())));
    EXPECT_DOUBLE_EQ(of_own.asked, of_other.asked);
  }
}

TEST(Traffic, APlanOfOneShardIsThatOfAnIndex) {
  const JobRequest job{.points = 1000000, .device = Device::cpu()};
  const shards::ShardPlan plan = shards::plan_shards(job, 1);
  EXPECT_EQ(plan.of_shard.index_bytes, plan_job(job).index_bytes);
  EXPECT_EQ(plan.asked, 1);
  EXPECT_EQ(plan.messages + plan.query_bytes + plan.answer_bytes + plan.moved_bytes + plan.sum_bytes, 0u);
  EXPECT_THROW(shards::plan_shards(job, 0), UsageError);
  EXPECT_THROW(shards::plan_shards(job, 4097), UsageError);
  EXPECT_EQ(shards::plan_shards({.points = 0, .device = Device::cpu()}, 8).answer_bytes, 0u);
}

}  // namespace
}  // namespace kith::test
