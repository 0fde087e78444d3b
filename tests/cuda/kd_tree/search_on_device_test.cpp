// The GPU finds what the CPU finds, byte by byte. Suites named Small are for compute-sanitizer too.
#include "cuda/on_device.hpp"
#include "cuda/queries/request_on_device.hpp"
#include "cuda/kd_tree/search_request.hpp"
#include "support/expect_same.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
void expect_knn_of_cpu(std::uint64_t seed, std::uint64_t most_rows, std::uint64_t most_queries) {
  std::mt19937_64 random(seed);
  const auto request = random_request<T>(random, most_rows, most_queries);
  SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
  constexpr std::uint32_t kSizes[] = {1, 3, 8, 16, 30, 32, 33, 64, 65, 100, 300, 1000};
  const std::uint32_t k = kSizes[random() % std::size(kSizes)];
  const T bound = random() % 4 == 0 ? request->typical_reduced(random) : std::numeric_limits<T>::infinity();
  const std::uint64_t entries = request->batch.count * k;
  std::vector<std::uint32_t> expected_indices(entries), indices(entries, 0xdeadbeef);
  std::vector<T> expected_reduced(entries), reduced(entries, T(-1));
  request->on_cpu()->knn(request->batch, k, {.bound = bound}, {}, expected_indices.data(), expected_reduced.data(),
                         nullptr);
  const OnDevice<T> device(*request, random() % 2 == 0 ? 0 : 100000);
  device.search.knn(request->batch, k, {.bound = bound}, {}, indices.data(), reduced.data(), nullptr);
  ASSERT_EQ(indices, expected_indices) << "k = " << k;
  ASSERT_EQ(reduced, expected_reduced) << "k = " << k;
}

template <typename T>
void expect_radius_of_cpu(std::uint64_t seed, std::uint64_t most_rows, std::uint64_t most_queries) {
  std::mt19937_64 random(seed);
  const auto request = random_request<T>(random, most_rows, most_queries);
  if (random() % 3 == 0) request->give_bounds(random);
  SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
  const T bound = request->typical_reduced(random);
  const auto most = static_cast<std::uint32_t>(random() % 3 == 0 ? 1 + random() % 20 : 0);
  const auto cpu = request->on_cpu();
  const engine::ReducedLists<T> expected = cpu->radius(request->batch, bound, most, {});
  const OnDevice<T> device(*request, random() % 2 == 0 ? 0 : 100000);
  const engine::ReducedLists<T> found = device.search.radius(request->batch, bound, most, {});
  ASSERT_EQ(found.offsets, expected.offsets);
  ASSERT_EQ(found.indices, expected.indices);
  ASSERT_EQ(found.reduced, expected.reduced);
}

template <typename T>
void expect_boxes_of_cpu(std::uint64_t seed, std::uint64_t most_rows) {
  std::mt19937_64 random(seed);
  const auto request = random_boxes<T>(random, most_rows);
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const engine::IndexLists expected = engine::adopt_on_cpu(request->tree, Metric::l2(), {})->box(request->batch, {});
  SearchRequest<T> base;
  base.tree = request->tree;
  const OnDevice<T> device(base, random() % 2 == 0 ? 0 : 5000);
  const engine::IndexLists found = device.search.box(request->batch, {});
  ASSERT_EQ(found.offsets, expected.offsets);
  ASSERT_EQ(found.indices, expected.indices);
}

template <typename T>
class SmallSearchOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallSearchOnDevice, Types);

TYPED_TEST(SmallSearchOnDevice, KnnEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 0; seed < rounds(60) && !this->HasFatalFailure(); ++seed) {
    expect_knn_of_cpu<TypeParam>(seed, 1000, 100);
  }
}
TYPED_TEST(SmallSearchOnDevice, RadiusEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 100; seed < 140 && !this->HasFatalFailure(); ++seed) {
    expect_radius_of_cpu<TypeParam>(seed, 1000, 100);
  }
}
TYPED_TEST(SmallSearchOnDevice, BoxesEqualTheCpuOnRandomCases) {
  for (std::uint64_t seed = 200; seed < 240 && !this->HasFatalFailure(); ++seed) {
    expect_boxes_of_cpu<TypeParam>(seed, 1000);
  }
}

/// Enough queries for packets, few enough for compute-sanitizer: lists of keys, collected ones, ties.
TYPED_TEST(SmallSearchOnDevice, PacketsEqualTheCpu) {
  std::mt19937_64 random(4);
  for (const NastyShape shape : {NastyShape::uniform, NastyShape::grid}) {
    const PointSet points = nasty_points(shape, dtype_of<TypeParam>, 3000, 3, random);
    const Index cpu = Index::build(points.view(), tree_on(Device::cpu()));
    const Index gpu = Index::build(points.view(), tree_on(Device::cuda()));
    for (const std::uint32_t k : {1u, 8u, 16u, 30u, 50u}) {
      SCOPED_TRACE(testing::Message() << "shape " << static_cast<int>(shape) << ", k " << k);
      expect_same(cpu.knn_self(k), gpu.knn_self(k));
    }
    expect_same(cpu.radius_self(0.1), gpu.radius_self(0.1));
  }
}

/// Points at so many places that each has a few copies, or many.
TYPED_TEST(SmallSearchOnDevice, PacketsOfCopiesEqualTheCpu) {
  std::mt19937_64 random(5);
  for (const std::uint64_t places : {8u, 60u, 600u}) {
    const PointSet all = nasty_points(NastyShape::uniform, dtype_of<TypeParam>, places, 3, random);
    PointSet points(dtype_of<TypeParam>, 3000, 3);
    for (std::uint64_t row = 0; row < points.rows(); ++row) {
      const std::uint64_t from = random() % places * 3;
      for (std::uint32_t d = 0; d < 3; ++d) {
        points.values<TypeParam>()[row * 3 + d] = all.values<TypeParam>()[from + d];
      }
    }
    const Index cpu = Index::build(points.view(), tree_on(Device::cpu()));
    const Index gpu = Index::build(points.view(), tree_on(Device::cuda()));
    for (const std::uint32_t k : {8u, 20u}) {
      for (const bool excludes_self : {false, true}) {
        SCOPED_TRACE(testing::Message() << places << " places, k " << k << ", " << excludes_self);
        const SearchOptions options{.exclude_self = excludes_self};
        expect_same(cpu.knn_self(k, options), gpu.knn_self(k, options));
      }
      expect_same(cpu.knn(points.view(), k), gpu.knn(points.view(), k));
    }
  }
}

template <typename T>
class SearchOnDevice : public SmallSearchOnDevice<T> {};
TYPED_TEST_SUITE(SearchOnDevice, Types);

TYPED_TEST(SearchOnDevice, KnnEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 1000; seed < 1120 && !this->HasFatalFailure(); ++seed) {
    expect_knn_of_cpu<TypeParam>(seed, seed % 10 == 0 ? 200000 : 20000, 6000);
  }
}
TYPED_TEST(SearchOnDevice, RadiusEqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 2000; seed < 2080 && !this->HasFatalFailure(); ++seed) {
    expect_radius_of_cpu<TypeParam>(seed, seed % 10 == 0 ? 100000 : 10000, 3000);
  }
}
TYPED_TEST(SearchOnDevice, BoxesEqualTheCpuOnRandomCases) {
  for (std::uint64_t seed = 3000; seed < 3060 && !this->HasFatalFailure(); ++seed) {
    expect_boxes_of_cpu<TypeParam>(seed, 50000);
  }
}

/// Every shape of points at sizes where the fast ways are taken: all neighbours of all points, and of other queries.
TYPED_TEST(SearchOnDevice, LargeSelfSearchesEqualTheCpu) {
  std::mt19937_64 random(77);
  for (int shape = 0; shape < static_cast<int>(NastyShape::count_of_shapes); ++shape) {
    for (const std::uint32_t dims : {2u, 3u, 4u, 5u}) {
      const PointSet points = nasty_points(static_cast<NastyShape>(shape), dtype_of<TypeParam>, 30000, dims, random);
      const PointSet queries = nasty_points(static_cast<NastyShape>(shape), dtype_of<TypeParam>, 8000, dims, random);
      const Index cpu = Index::build(points.view(), tree_on(Device::cpu()));
      const Index gpu = Index::build(points.view(), tree_on(Device::cuda()));
      for (const std::uint32_t k : {1u, 8u, 16u, 30u, 50u, 100u, 200u}) {
        SCOPED_TRACE(testing::Message() << "shape " << shape << ", dims " << dims << ", k " << k);
        expect_same(cpu.knn_self(k), gpu.knn_self(k));
        expect_same(cpu.knn_self(k, {.exclude_self = true}), gpu.knn_self(k, {.exclude_self = true}));
        expect_same(cpu.knn(queries.view(), k), gpu.knn(queries.view(), k));
        if (this->HasFailure()) return;
      }
    }
  }
}

/// All kinds of searches at the same time: each thread asks all of them, each begins with another one.
TEST(SearchOnDeviceByThreads, SixtyFourThreadsGetTheSameBytes) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(5);
  const PointSet points = nasty_points(NastyShape::clusters, DType::f32, 50000, 3, random);
  const PointView all = points.view(), some = all.slice(0, 5000), few = all.slice(0, 100);
  std::vector<double> radii;
  for (int i = 0; i < 5000; ++i) radii.push_back(static_cast<double>(random() % 100) / 5000);
  const Index cpu = Index::build(all, tree_on(Device::cpu())), gpu = Index::build(all, tree_on(Device::cuda()));
  // Each returns whether the GPU's answer is that of the CPU, which was asked once.
  std::vector<std::function<bool()>> requests;
  const auto ask = [&](auto search) {
    requests.push_back([&gpu, search, expected = search(cpu)] { return search(gpu) == expected; });
  };
  const SearchOptions alone{.threads = 1};
  ask([=](const Index& index) { return index.knn_self(8, alone); });
  ask([=](const Index& index) { return index.knn(few, 8, alone); });
  ask([=](const Index& index) { return index.knn(some, 100, alone); });
  ask([=](const Index& index) { return index.radius(some, 0.01, alone); });
  ask([=](const Index& index) { return index.radius(some, radii, {.max_neighbors = 5, .threads = 1}); });
  ask([=](const Index& index) { return index.count_self(0.01, alone); });
  ask([=](const Index& index) { return index.box(some, all.slice(5000, 5000), alone); });
  ask([=](const Index& index) { return index.box_count(few, all.slice(100, 100), alone); });
  std::vector<std::size_t> right(64, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < requests.size(); ++i) right[t] += requests[(t + i) % requests.size()]() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<std::size_t>(right.size(), requests.size()));
}

TEST(SearchOnDeviceByLp, AnswersAreThoseOfTheCpu) {
  if (!has_gpu()) GTEST_SKIP() << "no GPU";
  std::mt19937_64 random(6);
  for (const DType dtype : {DType::f32, DType::f64}) {
    const PointSet points = nasty_points(NastyShape::uniform, dtype, 5000, 3, random);
    for (const double p : {1.25, 1.5, 2.7, 3.0, 77.7}) {
      const Neighbors expected = Index::build(points.view(), tree_on(Device::cpu(), Metric::lp(p))).knn_self(10);
      const Neighbors found = Index::build(points.view(), tree_on(Device::cuda(), Metric::lp(p))).knn_self(10);
      for (std::uint64_t q = 0; q < 5000; ++q) {
        for (std::uint32_t j = 0; j < 10; ++j) {
          ASSERT_EQ(expected.index(q, j), found.index(q, j)) << "p = " << p;
          ASSERT_EQ(expected.distance(q, j), found.distance(q, j)) << "p = " << p;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
