// Searches in parts find what a search over all points finds, byte by byte; here both run on the CPU.
#include "engine/search_in_parts.hpp"

#include "cuda/kd_tree/search_request.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
engine::BuildRequest<T> brute_request(const T* rows, std::uint64_t count, std::uint32_t dims, Metric metric,
                                      const std::vector<T>& period) {
  return {.engine = Engine::brute_force,
          .metric = metric,
          .rows = rows,
          .row_stride = dims,
          .count = count,
          .dims = dims,
          .period = period,
          .run = {.threads = 1}};
}

/// All points, and in parts of so many.
template <typename T>
struct Both {
  std::unique_ptr<engine::Searcher<T>> whole;
  engine::SearchInParts<T> parts;

  Both(const PointSet& points, std::uint32_t dims, Metric metric, const std::vector<T>& period, std::uint64_t per_part)
      : whole(
            engine::cpu_backend().build(brute_request(points.values<T>().data(), points.rows(), dims, metric, period))),
        parts(brute_request(points.values<T>().data(), points.rows(), dims, metric, period), per_part,
              [=](const T* rows, std::uint64_t count, const engine::RunOptions&) {
                return engine::cpu_backend().build(brute_request(rows, count, dims, metric, period));
              }) {}
};

template <typename T>
class SearchInPartsTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SearchInPartsTest, Types);

TYPED_TEST(SearchInPartsTest, FindsWhatOneSearchFindsOnRandomCases) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    std::mt19937_64 random(seed);
    const auto request = random_request<T>(random, 700);
    if (random() % 3 == 0) request->give_bounds(random);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
    const Both<T> both(request->points, request->tree.dims, request->metric, request->period, 64 * (1 + random() % 4));
    const auto k = static_cast<std::uint32_t>(random() % 4 == 0 ? random() % 900 : random() % 20);
    const T bound = random() % 2 == 0 ? request->typical_reduced(random) : std::numeric_limits<T>::infinity();
    const std::uint64_t entries = request->batch.count * k;
    std::vector<std::uint32_t> expected_indices(entries), indices(entries, 0xdeadbeef);
    std::vector<T> expected_reduced(entries), reduced(entries, T(-1));
    engine::QueryBatch<T> without_bounds = request->batch;  // which are for radius searches
    without_bounds.bounds = nullptr;
    both.whole->knn(without_bounds, k, {.bound = bound}, {.threads = 1}, expected_indices.data(),
                    expected_reduced.data(), nullptr);
    both.parts.knn(without_bounds, k, {.bound = bound}, {.threads = 1}, indices.data(), reduced.data(), nullptr);
    ASSERT_EQ(indices, expected_indices) << "k = " << k;
    ASSERT_EQ(reduced, expected_reduced) << "k = " << k;

    const T reach = request->typical_reduced(random);
    const auto most = static_cast<std::uint32_t>(random() % 3 == 0 ? 1 + random() % 20 : 0);
    const auto expected = both.whole->radius(request->batch, reach, most, {.threads = 1});
    const auto found = both.parts.radius(request->batch, reach, most, {.threads = 1});
    ASSERT_EQ(found.offsets, expected.offsets);
    ASSERT_EQ(found.indices, expected.indices);
    ASSERT_EQ(found.reduced, expected.reduced);

    std::vector<std::uint32_t> expected_counts(request->batch.count), counts(request->batch.count, 77);
    both.whole->count(request->batch, reach, {.threads = 1}, expected_counts.data());
    both.parts.count(request->batch, reach, {.threads = 1}, counts.data());
    ASSERT_EQ(counts, expected_counts);
  }
}

TYPED_TEST(SearchInPartsTest, FindsTheSameInBoxesOnRandomCases) {
  using T = TypeParam;
  for (std::uint64_t seed = 1000; seed < 1200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed), same(seed);
    const auto request = random_boxes<T>(random, 500);
    const auto base = random_request<T>(same, 500, 0);  // the points of these boxes
    const Both<T> both(base->points, base->tree.dims, Metric::l2(), {}, 64);
    const auto expected = both.whole->box(request->batch, {.threads = 1});
    const auto found = both.parts.box(request->batch, {.threads = 1});
    ASSERT_EQ(found.offsets, expected.offsets);
    ASSERT_EQ(found.indices, expected.indices);
    std::vector<std::uint32_t> expected_counts(request->batch.count), counts(request->batch.count, 77);
    both.whole->box_count(request->batch, {.threads = 1}, expected_counts.data());
    both.parts.box_count(request->batch, {.threads = 1}, counts.data());
    ASSERT_EQ(counts, expected_counts);
  }
}

TEST(SearchInPartsFacts, RowsAreKeptAndPartsAreTold) {
  std::mt19937_64 random(3);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 1000, 3, random);
  const Both<float> both(points, 3, Metric::l2(), {}, 200);
  std::vector<float> rows(3000);
  both.parts.copy_rows(rows.data(), 1);
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), points.values<float>().begin()));
  EXPECT_NE(both.parts.describe().find("in 6 parts of up to 192 points"), std::string::npos) << both.parts.describe();
  EXPECT_GE(both.parts.memory_bytes(), rows.size() * sizeof(float));
}

}  // namespace
}  // namespace kith::test
