// Approximate searches on the GPU find what the CPU finds, byte by byte, and are as certain of it. Suites named Small
// are for compute-sanitizer too.
#include "cuda/kd_tree/approximate_request.hpp"
#include "cuda/on_device.hpp"
#include "cuda/queries/request_on_device.hpp"
#include "support/expect_same.hpp"

#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
void expect_answer_of_cpu(std::uint64_t seed, std::uint64_t most_rows, std::uint64_t most_queries) {
  std::mt19937_64 random(seed);
  const auto request = random_request<T>(random, most_rows, most_queries);
  constexpr std::uint32_t kSizes[] = {1, 1, 3, 8, 8, 9, 16, 17, 32, 33, 100, 1000};
  const std::uint32_t k = kSizes[random() % std::size(kSizes)];
  const engine::KnnRules<T> rules = random_rules(*request, random);
  SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text() << ", " << text_of(rules, k));
  const ApproximateAnswer<T> expected = approximately_on_cpu(*request, k, rules, 0);
  ApproximateAnswer<T> found(request->batch.count, k);
  const OnDevice<T> device(*request, random() % 2 == 0 ? 0 : 100000);
  device.search.knn(request->batch, k, rules, {}, found.indices.data(), found.reduced.data(), found.exact.data());
  ASSERT_EQ(found.indices, expected.indices);
  ASSERT_EQ(found.reduced, expected.reduced);
  ASSERT_EQ(found.exact, expected.exact);
}

template <typename T>
class SmallApproximationOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_gpu()) GTEST_SKIP() << "no GPU";
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallApproximationOnDevice, Types);

TYPED_TEST(SmallApproximationOnDevice, EqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 0; seed < rounds(60) && !this->HasFatalFailure(); ++seed) {
    expect_answer_of_cpu<TypeParam>(seed, 1000, 100);
  }
}

/// In 3 dims answers are exact, in 8 they are not.
TYPED_TEST(SmallApproximationOnDevice, SelfSearchesEqualTheCpu) {
  std::mt19937_64 random(3);
  for (const std::uint32_t dims : {3u, 8u}) {
    const PointSet points = nasty_points(NastyShape::clusters, dtype_of<TypeParam>, 1500 * rounds(2), dims, random);
    const Index cpu = Index::build(points.view(), tree_on(Device::cpu()));
    const Index gpu = Index::build(points.view(), tree_on(Device::cuda()));
    expect_same(cpu.knn_self(3, {.eps = 1.7}), gpu.knn_self(3, {.eps = 1.7}));
    expect_same(cpu.knn_self(1, {.max_leaves = 3}), gpu.knn_self(1, {.max_leaves = 3}));
    expect_same(cpu.knn_self(10, {.max_leaves = 5}), gpu.knn_self(10, {.max_leaves = 5}));
  }
}

template <typename T>
class ApproximationOnDevice : public SmallApproximationOnDevice<T> {};
TYPED_TEST_SUITE(ApproximationOnDevice, Types);

TYPED_TEST(ApproximationOnDevice, EqualsTheCpuOnRandomCases) {
  for (std::uint64_t seed = 1000; seed < 1080 && !this->HasFatalFailure(); ++seed) {
    expect_answer_of_cpu<TypeParam>(seed, seed % 10 == 0 ? 200000 : 20000, seed % 5 == 0 ? 20000 : 3000);
  }
}

TYPED_TEST(ApproximationOnDevice, LargeSearchesEqualTheCpu) {
  std::mt19937_64 random(77);
  for (int shape = 0; shape < static_cast<int>(NastyShape::count_of_shapes); ++shape) {
    for (const std::uint32_t dims : {4u, 6u, 11u}) {
      const PointSet points = nasty_points(static_cast<NastyShape>(shape), dtype_of<TypeParam>, 12000, dims, random);
      const PointSet queries = nasty_points(static_cast<NastyShape>(shape), dtype_of<TypeParam>, 10000, dims, random);
      const Index cpu = Index::build(points.view(), tree_on(Device::cpu()));
      const Index gpu = Index::build(points.view(), tree_on(Device::cuda()));
      for (const std::uint32_t k : {1u, 16u, 50u}) {
        for (const SearchOptions& options :
             {SearchOptions{.eps = 1.6}, SearchOptions{.max_leaves = 4}, SearchOptions{.eps = 1.5, .max_leaves = 32},
              SearchOptions{.eps = 2, .max_leaves = 300}}) {
          SCOPED_TRACE(testing::Message() << "shape " << shape << ", dims " << dims << ", k " << k << ", eps "
                                          << options.eps << ", leaves " << options.max_leaves);
          expect_same(cpu.knn_self(k, options), gpu.knn_self(k, options));
          expect_same(cpu.knn(queries.view(), k, options), gpu.knn(queries.view(), k, options));
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace kith::test
