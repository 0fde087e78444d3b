// The facade: what it refuses, what it leaves out, how it numbers.
#include "support/expect_same.hpp"
#include "support/oracle.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <thread>

namespace kith::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Index, NamesTheFirstBadValueAndCountsAllBadRows) {
  const float points[] = {0, 0, 1, 1, 2, kInf, kNan, 3, 4, 4};
  const std::string message = thrown_message<BadData>([&] { Index::build(PointView(points, 5, 2)); });
  EXPECT_NE(message.find("row 2, column 1"), std::string::npos) << message;
  EXPECT_NE(message.find("infinity"), std::string::npos) << message;
  EXPECT_NE(message.find("2 rows"), std::string::npos) << message;
}

TEST(Index, SkippedPointsKeepTheNumbersOfTheOthers) {
  const float points[] = {0, kNan, 1, 5, kInf, 2};
  const Index index = Index::build(PointView(points, 6, 1), {.skip_nonfinite = true});
  EXPECT_EQ(index.size(), 6u);
  EXPECT_EQ(index.skipped(), 2u);
  const float query[] = {1.9f};
  const Neighbors near = index.knn(PointView(query, 1, 1), 6);
  const std::uint32_t expected[] = {5, 2, 0, 3, 6, 6};
  for (std::uint32_t j = 0; j < 6; ++j) EXPECT_EQ(near.index(0, j), expected[j]);
  EXPECT_EQ(near.distance(0, 4), std::numeric_limits<double>::infinity());
}

TEST(Index, SkippedQueriesFindNothing) {
  const float points[] = {0, 1, 2, 3};
  const float queries[] = {kNan, 0.1f, kInf, kNan, 2.9f, kNan};
  const Index index = Index::build(PointView(points, 4, 1));
  EXPECT_THROW(index.knn(PointView(queries, 6, 1), 2), BadData);
  const Neighbors near = index.knn(PointView(queries, 6, 1), 2, {.skip_nonfinite = true});
  const std::uint32_t expected[6][2] = {{4, 4}, {0, 1}, {4, 4}, {4, 4}, {3, 2}, {4, 4}};
  for (std::uint64_t q = 0; q < 6; ++q) {
    for (std::uint32_t j = 0; j < 2; ++j) EXPECT_EQ(near.index(q, j), expected[q][j]) << q << ' ' << j;
  }
  EXPECT_TRUE(std::isinf(near.distance(3, 0)));
  const NeighborLists lists = index.radius(PointView(queries, 6, 1), 1.5, {.skip_nonfinite = true});
  const std::uint64_t lengths[] = {0, 2, 0, 0, 2, 0};
  for (std::uint64_t q = 0; q < 6; ++q) EXPECT_EQ(lists.count(q), lengths[q]) << q;
  EXPECT_EQ(lists.index(4, 0), 3u);
  const std::vector<std::uint32_t> counts = index.count(PointView(queries, 6, 1), 1.5, {.skip_nonfinite = true});
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{0, 2, 0, 0, 2, 0}));
}

TEST(Index, SelfSearchWithSkippedPointsAnswersInTheOriginalRows) {
  const float points[] = {kNan, 0, 1, kNan, 5, 4};
  const Index index = Index::build(PointView(points, 6, 1), {.skip_nonfinite = true});
  const Neighbors near = index.knn_self(1, {.exclude_self = true});
  const std::uint32_t expected[] = {6, 2, 1, 6, 5, 4};
  for (std::uint64_t q = 0; q < 6; ++q) EXPECT_EQ(near.index(q, 0), expected[q]) << q;
  EXPECT_EQ(index.count_self(1), (std::vector<std::uint32_t>{0, 2, 2, 0, 2, 2}));
  const NeighborLists lists = index.radius_self(1);
  EXPECT_EQ(lists.count(0), 0u);
  EXPECT_EQ(lists.count(4), 2u);
  EXPECT_EQ(lists.index(4, 1), 5u);
}

TEST(Index, EverythingSkippedIsAnEmptyIndex) {
  const float points[] = {kNan, kNan};
  const Index index = Index::build(PointView(points, 2, 1), {.skip_nonfinite = true});
  const float query[] = {0};
  EXPECT_EQ(index.knn(PointView(query, 1, 1), 1).index(0, 0), 2u);
  EXPECT_EQ(index.knn_self(1).index(1, 0), 2u);
}

TEST(Index, CosineRefusesVectorsWithoutDirection) {
  const float points[] = {1, 0, 0, 0, 0, 2};
  EXPECT_THROW(Index::build(PointView(points, 3, 2), {.metric = Metric::cosine()}), BadData);
  const Index index = Index::build(PointView(points, 3, 2), {.metric = Metric::cosine(), .skip_nonfinite = true});
  EXPECT_EQ(index.skipped(), 1u);
  const float query[] = {0, 1};
  EXPECT_EQ(index.knn(PointView(query, 1, 2), 2).index(0, 0), 2u);
  EXPECT_EQ(index.knn(PointView(query, 1, 2), 2).distance(0, 0), 0.0);
  EXPECT_EQ(index.knn(PointView(query, 1, 2), 2).distance(0, 1), 1.0);
}

TEST(Index, RefusesWhatMakesNoSense) {
  const float points[] = {0, 1, 2, 3};
  const double doubles[] = {0, 1};
  const Index index = Index::build(PointView(points, 2, 2), {.metric = Metric::l1()});
  EXPECT_THROW(index.knn(PointView(points, 4, 1), 1), UsageError);
  EXPECT_THROW(index.knn(PointView(doubles, 1, 2), 1), UsageError);
  EXPECT_THROW(index.knn(PointView(points, 2, 2), 1, {.squared = true}), UsageError);
  EXPECT_THROW(index.knn(PointView(points, 2, 2), 1, {.exclude_self = true}), UsageError);
  EXPECT_THROW(index.knn(PointView(points, 2, 2), 1, {.max_neighbors = 3}), UsageError);
  EXPECT_THROW(index.knn(PointView(points, 2, 2), 1, {.threads = -1}), UsageError);
  EXPECT_THROW(index.radius(PointView(points, 2, 2), -1), UsageError);
  EXPECT_THROW(index.radius(PointView(points, 2, 2), std::nan("")), UsageError);
  EXPECT_THROW(Index::build(PointView(static_cast<const float*>(nullptr), 2, 2)), UsageError);
  EXPECT_THROW(Index::build(PointView(points, 1, 0)), UsageError);
  EXPECT_THROW(Index::build(PointView(points, 1, 4097)), UsageError);
  EXPECT_THROW(Index::build(PointView(points, 1ull << 32, 1)), UsageError);
  EXPECT_THROW(Index::build(PointView(points, 2, 2), {.engine = Engine::cover_tree, .metric = Metric::lp(3)}),
               UsageError);
  EXPECT_THROW(Index::build(PointView(points, 2, 2), {.engine = Engine::cover_tree, .metric = Metric::inner_product()}),
               UsageError);
  EXPECT_THROW(Index::build(PointView(points, 2, 2), {.engine = Engine::cover_tree, .period = {9, 0}}), UsageError);
  EXPECT_THROW(Index::build(PointView(points, 2, 2), {.device = Device::cuda(99)}), DeviceError);
}

TEST(Index, TooManyNeighborsIsAnErrorNotACrash) {
  const float points[] = {0, 1};
  const Index index = Index::build(PointView(points, 2, 1));
  const std::vector<float> queries(100000, 0.5f);
  EXPECT_THROW(index.knn(PointView(queries.data(), queries.size(), 1), 4000000000u), OutOfMemory);
}

TEST(Index, EmptySetsAreDefined) {
  const Index index = Index::build(PointView(static_cast<const float*>(nullptr), 0, 3));
  const float query[] = {1, 2, 3};
  const Neighbors near = index.knn(PointView(query, 1, 3), 2);
  EXPECT_EQ(near.index(0, 1), 0u);
  EXPECT_TRUE(std::isinf(near.distance(0, 1)));
  EXPECT_EQ(index.knn_self(2).queries(), 0u);
  EXPECT_EQ(index.radius(PointView(query, 1, 3), 1).count(0), 0u);
  EXPECT_EQ(index.knn(PointView(query, 0, 3), 2).queries(), 0u);
  EXPECT_EQ(index.radius(PointView(query, 0, 3), 2).queries(), 0u);
}

TEST(Index, NoDimsAreDefined) {
  constexpr double kNothing = 0;
  const Index index = Index::build(PointView(&kNothing, 0, 0));
  const Neighbors found = index.knn(PointView(&kNothing, 2, 0), 3);
  for (std::uint64_t query = 0; query < 2; ++query) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) EXPECT_EQ(found.index(query, rank), 0u);
  }
}

TEST(Index, ProgressCanStopASearch) {
  std::mt19937_64 random(1);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 60000, 8, random);
  const Index index = Index::build(points.view());
  for (const int threads : {1, 2}) {
    int calls = 0;
    const SearchOptions options{.threads = threads, .progress = [&](const Progress& progress) {
                                  EXPECT_EQ(progress.stage, "searching");
                                  EXPECT_LE(progress.done, progress.total);
                                  return ++calls < 3;
                                }};
    EXPECT_THROW(index.knn_self(8, options), Interrupted);
    EXPECT_EQ(calls, 3);
  }
  std::uint64_t last = 0;
  index.count(points.view().slice(0, 1000), 0.1, {.progress = [&](const Progress& progress) {
                EXPECT_GE(progress.done, last);
                last = progress.done;
                return true;
              }});
  EXPECT_GT(last, 0u);
}

TEST(Index, ManyThreadsShareOneIndex) {
  std::mt19937_64 random(5);
  const PointSet points = nasty_points(NastyShape::clusters, DType::f64, 2000, 3, random);
  const Index index = Index::build(points.view());
  const Neighbors expected = index.knn_self(9, {.threads = 1});
  std::vector<std::thread> threads;
  std::vector<Neighbors> found(64);
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] { found[t] = index.knn_self(9, {.threads = static_cast<int>(1 + t % 3)}); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Neighbors& near : found) expect_same(expected, near);
}

TEST(Index, ExplainsItself) {
  const float points[] = {0, kNan, 1};
  const Index index = Index::build(PointView(points, 3, 1), {.skip_nonfinite = true});
  EXPECT_NE(index.explain().find("brute"), std::string::npos);
  EXPECT_NE(index.explain().find("1 of 3"), std::string::npos);
  EXPECT_GT(index.memory_bytes(), 0u);
  EXPECT_EQ(index.engine(), Engine::brute_force);
  EXPECT_EQ(index.device(), Device::cpu());
}

TEST(Index, AutoTakesTheTreeWhereItPays) {
  std::mt19937_64 random(9);
  const PointSet low = nasty_points(NastyShape::uniform, DType::f32, 2000, 3, random);
  const PointSet high = nasty_points(NastyShape::uniform, DType::f32, 2000, 16, random);
  EXPECT_EQ(Index::build(low.view()).engine(), Engine::kd_tree);
  EXPECT_EQ(Index::build(low.view(), {.expected_queries = 1}).engine(), Engine::brute_force);
  EXPECT_EQ(Index::build(low.view(), {.expected_queries = 100000}).engine(), Engine::kd_tree);
  EXPECT_EQ(Index::build(low.view().slice(0, 500)).engine(), Engine::brute_force);
  EXPECT_EQ(Index::build(high.view()).engine(), Engine::brute_force);
}

TEST(Device, NamesAreReadAndWritten) {
  for (const std::string name : {"auto", "cpu", "cuda:0", "cuda:12"}) EXPECT_EQ(Device::parse(name).name(), name);
  EXPECT_EQ(Device::parse("cuda"), Device::cuda(0));
  for (const std::string name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x"}) {
    EXPECT_THROW(Device::parse(name), UsageError) << name;
  }
  EXPECT_EQ(available_devices().front().device, Device::cpu());
}

TEST(Engine, NamesAreReadAndWritten) {
  for (const std::string name : {"auto", "brute", "kdtree", "covertree"}) {
    EXPECT_EQ(name_of(parse_engine(name)), name);
  }
  EXPECT_THROW(parse_engine("fast"), UsageError);
}

}  // namespace
}  // namespace kith::test
