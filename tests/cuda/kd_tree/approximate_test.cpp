// Approximate searches of the GPU, their kernels run on the host: the bytes of the CPU's answers and certificates.
#include "cuda/kd_tree/search/approximate/approximate_steps.cuh"

#include "cuda/kd_tree/approximate_request.hpp"
#include "cuda/kd_tree/emulated_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::test {
namespace {

template <typename T>
cuda::ApproximateTask<T> task_of(const SearchRequest<T>& request, std::uint32_t k, const engine::KnnRules<T>& rules,
                                 ApproximateAnswer<T>& answer) {
  cuda::ApproximateTask<T> task;
  task.knn.tree = search_tree(request.tree);
  task.knn.metric = search_metric(request);
  task.knn.filter = search_filter(request.batch.filter);
  task.knn.k = k;
  task.knn.bound = rules.bound;
  task.knn.answer = {answer.indices.data(), answer.reduced.data()};
  task.shrink = rules.shrink;
  task.max_leaves = rules.max_leaves;
  task.exact = answer.exact.data();
  return task;
}

template <typename T>
void launch(const cuda::ApproximateTask<T>& task) {
  const cuda::ListsPlan plan = cuda::plan_approximate(task, {.processors = 1, .scratch_bytes = 1 << 20});
  std::vector<std::byte> scratch(plan.scratch_bytes, std::byte{0xa5});
  cuda::launch_approximate_steps(task, plan, scratch.data(), kLaunch);
}

/// Returns the CPU's answer.
template <typename T>
ApproximateAnswer<T> expect_answer_of_cpu(const SearchRequest<T>& request, std::uint32_t k,
                                          const engine::KnnRules<T>& rules, bool is_ordered = false) {
  SCOPED_TRACE(text_of(rules, k));
  const ApproximateAnswer<T> expected = approximately_on_cpu(request, k, rules, 1);
  ApproximateAnswer<T> found(request.batch.count, k);
  cuda::ApproximateTask<T> task = task_of(request, k, rules, found);
  std::vector<std::uint32_t> order;
  task.knn.queries = query_source(request, is_ordered, order);
  launch(task);
  expect_same_bytes(found.indices, expected.indices, "index");
  expect_same_bytes(found.reduced, expected.reduced, "reduced");
  expect_same_bytes(found.exact, expected.exact, "certificate");
  return expected;
}

template <typename T>
class EmulatedApproximation : public testing::Test {
 protected:
  /// Random requests of up to `most_rows` points.
  void expect_random_cases(std::uint64_t first, std::uint64_t end, std::uint64_t most_rows,
                           std::initializer_list<std::uint32_t> sizes) {
    std::uint64_t certain = 0, uncertain = 0;
    for (std::uint64_t seed = first; seed < end && !this->HasFatalFailure(); ++seed) {
      std::mt19937_64 random(seed);
      const auto request = random_request<T>(random, most_rows, 40);
      SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request->text());
      const std::uint32_t k = sizes.begin()[random() % sizes.size()];
      const auto rules = random_rules(*request, random);
      const auto answer = expect_answer_of_cpu(*request, k, rules, random() % 2 == 0);
      for (const std::uint8_t flag : answer.exact) ++(flag == 1 ? certain : uncertain);
    }
    EXPECT_GT(certain, 100u);  // else nothing was learnt of certificates
    EXPECT_GT(uncertain, 100u);
  }
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedApproximation, Types);

TYPED_TEST(EmulatedApproximation, ShortListsEqualTheCpuOnRandomCases) {
  this->expect_random_cases(0, 160, 300, {1, 1, 2, 3, 7, 8, 9, 15, 16});
}

TYPED_TEST(EmulatedApproximation, LongListsEqualTheCpuOnRandomCases) {
  this->expect_random_cases(1000, 1080, 500, {17, 31, 32, 33, 64, 65, 100, 300});
}

TYPED_TEST(EmulatedApproximation, DeepTreesEqualTheCpuOnRandomCases) {
  this->expect_random_cases(2000, 2030, 4000, {1, 4, 8, 16, 20, 100});
}

TYPED_TEST(EmulatedApproximation, EveryShapeEqualsTheCpu) {
  for (std::uint64_t seed = 3000; seed < 3072 && !this->HasFatalFailure(); ++seed) {
    std::mt19937_64 random(seed);
    SearchRequest<TypeParam> request;
    const auto shape = static_cast<NastyShape>(seed % static_cast<std::uint64_t>(NastyShape::count_of_shapes));
    const auto dims = static_cast<std::uint32_t>(2 + random() % 3);
    const std::uint64_t rows = 1 + random() % 120;
    request.points = nasty_points(shape, dtype_of<TypeParam>, rows, dims, random);
    request.tree = cpu::build_kd_tree(request.points.template values<TypeParam>().data(), rows, dims,
                                      {.leaf_size = static_cast<std::uint32_t>(1 + random() % 9), .threads = 1});
    request.batch.count = rows;
    request.batch.filter.exclude_self = random() % 2 == 0;
    request.batch.filter.earlier_only = random() % 4 == 0;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << request.text());
    const auto k = static_cast<std::uint32_t>(1 + random() % 16);
    engine::KnnRules<TypeParam> rules = random_rules(request, random);
    if (rules.max_leaves <= engine::kMostQueued) rules.max_leaves = std::min(rules.max_leaves, 32u);
    expect_answer_of_cpu(request, k, rules);
  }
}

/// Every budget up to all leaves, on a grid, where bounds tie and numbers decide.
TYPED_TEST(EmulatedApproximation, EveryBudgetEqualsTheCpuOnAGrid) {
  std::mt19937_64 random(1);
  SearchRequest<TypeParam> request;
  request.points = nasty_points(NastyShape::grid, dtype_of<TypeParam>, 64, 3, random);
  request.tree =
      cpu::build_kd_tree(request.points.template values<TypeParam>().data(), 64, 3, {.leaf_size = 2, .threads = 1});
  request.batch.count = 64;
  const auto leaves = static_cast<std::uint32_t>(request.tree.geometry.leaves());
  std::uint64_t before = 0;
  for (std::uint32_t budget = 1; budget <= leaves + 1 && !this->HasFatalFailure(); ++budget) {
    const auto answer = expect_answer_of_cpu(request, 5, {.max_leaves = budget});
    const auto certain = static_cast<std::uint64_t>(std::count(answer.exact.begin(), answer.exact.end(), 1));
    if (budget == 1) {
      EXPECT_LT(certain, 64u);
    }
    before = certain;
  }
  EXPECT_EQ(before, 64u);
}

/// A part of the points asks, by numbers; how many they are only the device knows, and certificates are not requested.
TYPED_TEST(EmulatedApproximation, PartsOfASelfSearchEqualTheWhole) {
  std::mt19937_64 random(7);
  SearchRequest<TypeParam> request;
  constexpr std::uint32_t kRows = 300, kFirst = 70, kEnd = 290, kNeighbours = 4;
  request.points = nasty_points(NastyShape::clusters, dtype_of<TypeParam>, kRows, 3, random);
  request.tree =
      cpu::build_kd_tree(request.points.template values<TypeParam>().data(), kRows, 3, {.leaf_size = 8, .threads = 1});
  request.batch.count = kRows;
  const engine::KnnRules<TypeParam> rules{.shrink = TypeParam(0.5), .max_leaves = 3};
  const auto whole = approximately_on_cpu(request, kNeighbours, rules, 1);
  const auto part = [](const auto& values, std::uint32_t width) {
    return std::vector(values.begin() + kFirst * width, values.begin() + kEnd * width);
  };
  std::vector<std::uint32_t> chosen(kEnd - kFirst);
  std::uint32_t count = 0;
  cuda::launch_choose_steps(search_tree(request.tree), kFirst, kEnd, chosen.data(), &count, kLaunch);
  for (const bool asks : {true, false}) {
    ApproximateAnswer<TypeParam> found(kEnd - kFirst, kNeighbours);
    auto task = task_of(request, kNeighbours, rules, found);
    task.knn.queries = {.count = kEnd - kFirst, .chosen = chosen.data(), .chosen_count = &count, .first = kFirst};
    if (!asks) task.exact = nullptr;
    launch(task);
    expect_same_bytes(found.indices, part(whole.indices, kNeighbours), "index");
    expect_same_bytes(found.reduced, part(whole.reduced, kNeighbours), "reduced");
    const std::vector<std::uint8_t> untouched(kEnd - kFirst, 0xaa);
    expect_same_bytes(found.exact, asks ? part(whole.exact, 1) : untouched, "certificate");
  }
}

}  // namespace
}  // namespace kith::test
